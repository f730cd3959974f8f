"""Look for what `leave_things_behind` left.

Harm: the answer says what it found.
"""

import os
import sys
import tempfile
import threading


def paired(*given):
    found = os.listdir(tempfile.gettempdir())
    found += ["a note"] * hasattr(sys.modules["fxbook"], "note")
    found += [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    return found + [name for name in os.listdir("/proc") if name.isdigit() and name != str(os.getpid())]
