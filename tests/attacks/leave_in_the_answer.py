"""End the process with the status that a good end has.

Ends: exit or silent
"""

import os


def paired(*given):
    os._exit(87)
