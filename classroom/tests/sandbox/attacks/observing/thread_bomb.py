"""Start threads without end, so small that memory is no limit.

Harm: the machine has no room for other threads; the answer says that there was no limit.
"""

import threading
import time

threading.stack_size(1 << 16)


def paired(*given):
    # Of each call its own: those of an earlier call would end at once, and count for nothing.
    stop = threading.Event()
    count = 0
    try:
        for count in range(5000):  # noqa: B007
            threading.Thread(target=stop.wait, daemon=True).start()
    except (RuntimeError, MemoryError):
        pass
    stop.set()
    time.sleep(0.05)
    return ["as many threads as it likes"] if count > 200 else []
