"""Write without end to every descriptor.

Ends: silent or crash or time
"""

import contextlib
import os

while True:
    for number in range(3, 64):
        with contextlib.suppress(OSError):
            os.write(number, b"0123456789abcdef" * 65536)
