"""Ask Python to exit, in a cell and in the answer.

Harm: the process that runs the next one exits.
"""

import sys


def paired(*given):
    sys.exit(0)


sys.exit("done")
