"""Say in a zip that files are smaller, larger or elsewhere than they are, and let them lie over each other.

Harm: more is read than is there, or than was asked.
"""

import io
import struct
import zipfile


def handed_in():
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.ipynb", bytes(30 << 20))
    data = held.getvalue()
    entry = data.index(b"PK\x01\x02")
    for place, form in (
        (16, "<I"),
        (20, "<I"),
        (24, "<I"),
        (28, "<H"),
        (30, "<H"),
        (32, "<H"),
        (34, "<H"),
        (42, "<I"),
        (10, "<H"),
        (8, "<H"),
    ):
        for value in (0, 1, 99, 0xFFFF, 0xFFFFFFFF, 1 << 31, 1 << 20):
            size = struct.calcsize(form)
            changed = struct.pack(form, value & ((1 << 8 * size) - 1))
            yield "x.zip", data[: entry + place] + changed + data[entry + place + size :]
    # All entries name the same bytes.
    many = data[:entry] + data[entry:].split(b"PK\x05\x06")[0] * 60
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 60, 60, len(many) - entry, entry, 0)
    yield "x.zip", many + end
