"""Files that are handed in to harm whoever reads them.

Each function yields the names and the bytes of some files. Its docstring says what the files try, and what harm they
would do.
"""

import io
import json
import struct
import zipfile
from collections.abc import Iterator

Files = Iterator[tuple[str, bytes]]


def notebook(*sources: str) -> bytes:
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": s} for s in sources
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}).encode()


def packed(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED, comment: bytes = b"") -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as archive:
        for name, data in files:
            archive.writestr(name, data)
        archive.comment = comment
    return held.getvalue()


# ---- notebooks and scripts -------------------------------------------------------------------------------------------


def cells_that_are_hard_to_parse() -> Files:
    """Fill cells with programs that take Python's compiler long, and let thousands depend on each other in cycles.

    Harm: the reader crashes or never finishes.
    """
    sources = ("(" * 100_000, "-" * 1_000_000 + "1", "x" + ".x" * 100_000, "x" + "[0]" * 50_000, "f'{" * 150 + "1")
    sources += ("lambda: " * 20_000 + "0", "a=" * 100_000 + "1", "x = " + "9" * 1_000_000, "\\\n" * 500_000, "\0")
    sources += ("def f():\n" + "".join(" " * depth + "if 1:\n" for depth in range(1, 99)) + " " * 99 + "x", "\ud800")
    sources += ("\x0c" * 100_000, "# coding: utf-7\n+AG8-", "{**" * 5000, "@" * 9999, "match x:\n" + "  case [" * 5000)
    sources += ("def put_in_order(x): pass\n" * 50_000, "put_in_order = 1\n" * 100_000, "%" * 100_000, "!" * 100_000)
    sources += ("?" * 100_000, "%%time\n" * 100_000, "x = " + "not " * 200_000 + "1", "global put_in_order\n" * 50_000)
    for source in sources:
        yield "x.ipynb", notebook(source)
        yield "x.ipynb", notebook(*["def put_in_order(x): helper", source] * 3)
        yield "x.py", f"# %%\n{source}\n".encode("utf-8", "surrogatepass")

    for count in (900, 3000):
        chain = [f"def f{at}(): return f{at + 1}()" for at in range(count)]
        cycle = [*chain, f"def f{count}(): return put_in_order()"]
        every = [
            f"f{at} = lambda: ({', '.join(f'f{other}' for other in range(0, count, 7))})" for at in range(count // 3)
        ]
        for sources in (chain, cycle, chain[::-1], every):
            yield "x.ipynb", notebook("def put_in_order(x): return f0()", *sources)


# ---- zips ------------------------------------------------------------------------------------------------------------


def zip_that_unpacks_without_end() -> Files:
    """Compress zeros a thousandfold, in one file, many files or nested zips; pack a hundred thousand undeclared names.

    Harm: the grader runs out of memory or disk space.
    """
    yield "x.zip", packed(("x.ipynb", bytes(90 << 20)))
    yield "x.zip", packed(*((f"{at}.ipynb", bytes(9 << 20)) for at in range(11)))
    inner = packed(("x.ipynb", bytes(50 << 20)))
    for _ in range(6):
        inner = packed(*((f"{at}.zip", inner) for at in range(9)))
    yield "x.zip", inner
    yield "x.zip", packed(("x.ipynb", bytes(20 << 20)), method=zipfile.ZIP_BZIP2)
    yield "x.zip", packed(("x.ipynb", bytes(20 << 20)), method=zipfile.ZIP_LZMA)
    for count, name in ((100_000, "{}"), (3000, "{}/" + "n" * 3000), (60, "a/{}")):
        data = packed(*((name.format(at), b"") for at in range(count)), method=zipfile.ZIP_STORED)
        yield "x.zip", data
        end = data.rindex(b"PK\x05\x06")
        for said in (1, 0xFFFF):
            yield "x.zip", data[: end + 8] + struct.pack("<2H", said, said) + data[end + 12 :]


def zip_that_lies_about_sizes() -> Files:
    """Declare false sizes and positions for the files in a zip, in 32-bit and 64-bit fields.

    Harm: more is read than exists or was requested, or a size that overflows is believed.
    """
    data = packed(("x.ipynb", bytes(30 << 20)))
    entry = data.index(b"PK\x01\x02")
    fields = {16: "<I", 20: "<I", 24: "<I", 28: "<H", 30: "<H", 32: "<H", 34: "<H", 42: "<I", 10: "<H", 8: "<H"}
    for place, form in fields.items():
        for value in (0, 1, 99, 0xFFFF, 0xFFFFFFFF, 1 << 31, 1 << 20):
            size = struct.calcsize(form)
            changed = struct.pack(form, value & ((1 << 8 * size) - 1))
            yield "x.zip", data[: entry + place] + changed + data[entry + place + size :]
    # All entries name the same bytes.
    many = data[:entry] + data[entry:].split(b"PK\x05\x06")[0] * 60
    yield "x.zip", many + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 60, 60, len(many) - entry, entry, 0)
    for size in (2**63 - 1, 2**64 - 1, 2**63, 1 << 40, 0):
        for place in (0, 2**63, 2**64 - 1, 5):
            for length in (24, 8, 0, 9999):
                extra, most = struct.pack("<HHQQQ", 1, length, size, size, place), 0xFFFFFFFF
                numbers = (45, 45, 0, 0, 0, 0, 0, most, most, len(b"x.ipynb"), len(extra), 0, 0, 0, 0, most)
                listed = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", *numbers) + b"x.ipynb" + extra
                end = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, len(listed), place)
                finds = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(listed), 1)
                last = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, most, most, 0)
                yield "x.zip", listed + end + finds + last
