"""Close every descriptor, so that nobody waits for a result, and never end.

Ends: time or silent
"""

import os

os.closerange(0, 1024)
while True:
    pass
