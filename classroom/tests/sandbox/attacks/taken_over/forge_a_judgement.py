"""Send a judgement that is right in form, and holds text that no file can hold and a graph of any kind.

Harm: the grader fails on it.
"""

import json
import os
import re
import sys

texts = dict.fromkeys(("rule", "message", "node", "read", "case", "line", "printed"), "\ud800\0\u202e" + "x" * 50_000)
FORGED = {**texts, "graph": {"nodes": [{"\ud800": [[[]]]}]}, "unproven": ["\ud800"] * 100}
frame, mark = sys._getframe(), b""
while frame:
    for value in list(frame.f_locals.values()):
        if isinstance(value, bytes) and re.fullmatch(rb"[0-9a-f]{32}", value):
            mark = value
    frame = frame.f_back
claim = json.dumps(FORGED).encode()
for number in range(3, 256):
    whole = memoryview(mark + b"%016x" % len(claim) + claim)
    try:
        while whole:
            whole = whole[os.write(number, whole) :]
    except OSError:
        continue
os._exit(0)
