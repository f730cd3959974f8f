"""Write one file without end; the limit of its size sends a signal that can be ignored.

Harm: the disk is full; the answer says that the file grew beyond its limit.
"""

import signal
import tempfile

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def paired(*given):
    written = 0
    try:
        with open(tempfile.gettempdir() + "/by-an-attack", "wb") as file:
            for _ in range(4096):
                written += file.write(bytes(1 << 20))
                file.flush()
    except OSError:
        pass
    return ["more than 16 MB"] if written > 17 << 20 else []
