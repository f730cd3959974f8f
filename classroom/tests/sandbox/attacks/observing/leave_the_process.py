"""End the process with a good status before anything is seen.

Harm: an end that looks good is taken for a right answer.
"""

import os

os._exit(0)
