"""Hand in zips with bits that are turned, ends that are missing, comments that hold other zips, and secrets asked for.

Harm: the reader fails in a way that nobody catches.
"""

import io
import random
import zipfile


def handed_in():
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for at in range(3):
            archive.writestr(f"{at}.ipynb", b'{"cells": []}' * 50)
        archive.comment = b"PK\x05\x06" + bytes(40)
    data = held.getvalue()
    drawn = random.Random(0)
    for _ in range(150):
        turned = bytearray(data)
        for _ in range(drawn.randrange(1, 6)):
            turned[drawn.randrange(len(turned))] ^= 1 << drawn.randrange(8)
        yield "x.zip", bytes(turned)
    for cut in range(0, len(data), len(data) // 25):
        yield "x.zip", data[:cut]
        yield "x.zip", data[cut:]
        yield "x.zip", data[:cut] + data
    yield "x.zip", data.replace(b"\x00\x00\x08\x00", b"\x01\x00\x08\x00")
