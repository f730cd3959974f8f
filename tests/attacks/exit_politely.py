"""Ask Python to exit, in a cell and in the answer.

Ends: SystemExit
"""

import sys


def paired(*given):
    sys.exit(0)


sys.exit("done")
