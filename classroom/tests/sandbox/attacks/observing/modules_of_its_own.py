"""Have the library import modules of its own making.

Harm: the next one's library is another, or this one's observation is taken for another.
"""

import os
import sys
import tempfile

folder = tempfile.gettempdir()
for name in ("json", "torch", "fxbook", "sitecustomize", "_ctypes"):
    with open(f"{folder}/{name}.py", "w") as file:
        file.write("raise SystemExit('by-an-attack')")
sys.path.insert(0, folder)
os.chdir(folder)


def paired(*given):
    return []
