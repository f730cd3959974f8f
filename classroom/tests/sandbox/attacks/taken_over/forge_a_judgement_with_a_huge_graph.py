"""Send a judgement whose graph takes much memory to read.

Harm: the grader is out of memory, and the next one gets nothing.
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
texts = b", ".join(b'"%s": ""' % name for name in (b"rule", b"message", b"node", b"read", b"case", b"line", b"printed"))
claim = b"{" + texts + b', "unproven": [], "graph": {"nodes": [' + b"[]," * 30_000_000 + b"[]]}}"
for number in range(3, 256):
    whole = memoryview(mark + b"%016x" % len(claim) + claim)
    try:
        while whole:
            whole = whole[os.write(number, whole) :]
    except OSError:
        continue
os._exit(0)
