"""Use the 64-bit fields of a zip, with sizes and places that are larger than any file.

Harm: a size that wraps around is believed.
"""

import struct


def entry(name, extra, sizes=0xFFFFFFFF):
    head = struct.pack(
        "<4s6H3L5H2L", b"PK\x01\x02", 45, 45, 0, 0, 0, 0, 0, sizes, sizes, len(name), len(extra), 0, 0, 0, 0, 0xFFFFFFFF
    )
    return head + name + extra


def handed_in():
    for size in (2**63 - 1, 2**64 - 1, 2**63, 1 << 40, 0):
        for place in (0, 2**63, 2**64 - 1, 5):
            for length in (24, 8, 0, 9999):
                extra = struct.pack("<HHQQQ", 1, length, size, size, place)
                listed = entry(b"x.ipynb", extra)
                end = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, len(listed), place)
                finds = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(listed), 1)
                last = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
                yield "x.zip", listed + end + finds + last
