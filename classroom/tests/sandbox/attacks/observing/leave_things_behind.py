"""Leave handlers, threads and files that act when the answer has been given, or when the next one is looked at.

Harm: they act: a file appears, something runs on, the next one finds a note.
"""

import atexit
import sys
import tempfile
import threading
import time
import weakref


def strike():
    while True:
        time.sleep(0.01)
        try:
            open(tempfile.gettempdir() + "/by-an-attack", "a").close()
        except OSError:
            pass


class Last:
    def __del__(self):
        strike()


def paired(*given):
    atexit.register(strike)
    threading._register_atexit(strike)
    weakref.finalize(strike, strike)
    threading.Thread(target=strike).start()
    sys.last = Last()
    sys.modules["fxbook"].note = "by-an-attack"
    return []
