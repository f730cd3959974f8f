"""Use more processors than one, in code that nothing interrupts, from threads that go on when the answer is given.

Harm: a thread runs on, or the next one waits.
"""

import contextlib
import threading

import torch


def burn():
    x = torch.randn(256, 256)
    while True:
        torch.mm(x, x)


for _ in range(8):
    with contextlib.suppress(RuntimeError):  # Some machines have no room for so many.
        threading.Thread(target=burn).start()
burn()
