"""Send a sheet that was not handed in: cells and places of any form, more than there are.

Harm: the grader fails on it.
"""

import json
import os
import re
import sys

frame, mark = sys._getframe(), b""
while frame:
    for value in list(frame.f_locals.values()):
        if isinstance(value, bytes) and re.fullmatch(rb"[0-9a-f]{32}", value):
            mark = value
    frame = frame.f_back
FORGED = {
    "cells": ["\ud800", 5, None],
    "homes": {"x": [10**300, -1, True]},
    "alone": {"x": "y"},
    "untouched": [[]],
    "files": 5,
}
claim = json.dumps(FORGED).encode()
for number in range(3, 256):
    whole = memoryview(mark + b"%016x" % len(claim) + claim)
    try:
        while whole:
            whole = whole[os.write(number, whole) :]
    except OSError:
        continue
os._exit(0)
