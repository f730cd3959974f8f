"""Put a hundred thousand files into a zip, with long names, in one folder or each in one, and say that there are none.

Harm: the grader holds them all.
"""

import io
import struct
import zipfile


def handed_in():
    for count, name in ((100_000, "{}"), (3000, "{}/" + "n" * 3000), (60, "a/{}")):
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            for at in range(count):
                archive.writestr(name.format(at), b"")
        data = held.getvalue()
        yield "x.zip", data
        end = data.rindex(b"PK\x05\x06")
        yield "x.zip", data[: end + 8] + struct.pack("<2H", 1, 1) + data[end + 12 :]
        yield "x.zip", data[: end + 8] + struct.pack("<2H", 0xFFFF, 0xFFFF) + data[end + 12 :]
