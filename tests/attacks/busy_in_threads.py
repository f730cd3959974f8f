"""Use more processors than one, in code that nothing interrupts, from threads that go on when the answer is given.

Ends: time
"""

import threading

import torch


def burn():
    x = torch.randn(256, 256)
    while True:
        torch.mm(x, x)


for _ in range(8):
    threading.Thread(target=burn).start()
burn()
