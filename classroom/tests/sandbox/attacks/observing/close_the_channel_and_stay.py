"""Close every descriptor, so that nobody waits for a result, and never end.

Harm: it runs on when nobody reads any more.
"""

import os

os.closerange(0, 1024)
while True:
    pass
