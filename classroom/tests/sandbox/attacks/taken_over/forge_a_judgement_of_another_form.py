"""Send a judgement whose parts are of other types, with numbers that JSON does not have.

Harm: the grader fails on it, or believes it.
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
parts = b'"message": NaN, "node": -Infinity, "read": 1e999, "case": [], "line": {}, "printed": null'
claim = b'{"rule": "", ' + parts + b', "graph": [], "unproven": "x", "rule": 5, "__class__": "Judgement"}'
for number in range(3, 256):
    whole = memoryview(mark + b"%016x" % len(claim) + claim)
    try:
        while whole:
            whole = whole[os.write(number, whole) :]
    except OSError:
        continue
os._exit(0)
