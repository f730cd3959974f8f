"""Close every descriptor, and go on.

Ends: silent
"""

import os

os.closerange(0, 1024)


def paired(*given):
    return []
