"""Files that are handed in to harm whoever reads them.

Each function yields the names and the bytes of some files. Its docstring says what the files try, and what harm they
would do.
"""

import io
import json
import random
import stat
import struct
import zipfile
import zlib
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


def files_that_are_no_text() -> Files:
    """Hand in bytes that are not text or begin like other file types; name files like paths, templates and options.

    Harm: the reader guesses the type and opens another file, or a message shows something false.
    """
    starts = (b"\x80\x04\x95", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"PK\x03\x04", b"\x1f\x8b", b"\x7fELF", b"MZ")
    starts += (b"#!/bin/sh\n", b"\0" * 64, b"\xff\xfe\x00\xd8", b"+AHs-", b"\x93NUMPY")
    starts += (b"<?xml version='1.0'?><!DOCTYPE x [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>",)
    for start in starts:
        for suffix in ("py", "ipynb", "PY", "", "ipynb.py", "zip"):
            yield f"x.{suffix}", start + b'{"cells": []}'
            yield f"x.{suffix}", start + bytes(range(256)) * 100
    yield "x.ipynb", zlib.compress(bytes(10_000_000))
    yield "x.ipynb", bytes(5_000_000)
    yield "x.py", b"\r" * 3_000_000

    names = ("../../etc/passwd", "/etc/passwd", "-rf.py", "x\0.py", "x\n.py", "\ud800.py", "\u202eyp.x", "con.py", "")
    names += ("{0.__class__}.py", "%s%n.py", "x" * 5000, "http://127.0.0.1/x.py", "x.py;touch by-an-attack")
    names += ("$(touch by-an-attack).py", "<script>.py", ".py", "x.py/..")
    for name in names:
        for data in (b"# %%\nx = 1", b"{", b"\xff"):
            yield name, data


def notebooks_of_other_formats() -> Files:
    """Nest JSON endlessly, or claim that a notebook has an old, a new or no format, so that it is converted.

    Harm: the reader's stack overflows, it uses up all time or memory, or a converter runs what it should not.
    """
    for depth in (500, 990, 5_000, 3_000_000):
        yield "x.ipynb", b'{"nbformat": 4, "cells": ' + b"[" * depth + b"]" * depth + b"}"
        yield "x.ipynb", b'{"nbformat": 4, "metadata": ' + b'{"a":' * depth + b"1" + b"}" * depth + b', "cells": []}'
    yield "x.ipynb", b"{" + b'"cells": [],' * 500_000 + b'"nbformat": 4, "nbformat_minor": 5, "metadata": {}}'
    yield "x.ipynb", b'{"nbformat": ' + b"9" * 1_000_000 + b"}"
    yield "x.ipynb", b'{"nbformat": 4, "nbformat_minor": -1e999, "cells": NaN, "metadata": {}}'
    yield "x.ipynb", b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [' + b"{}," * 1_000_000 + b"{}]}"
    yield "x.ipynb", b'{"a": "' + b"\\ud800" * 500_000 + b'"}'
    code: dict[str, object] = {"cell_type": "code"}
    cells = ({}, code, {**code, "source": 5}, {**code, "source": [1, None]}, [], None, "x", {"cell_type": ["code"]})
    cells += ({**code, "source": ["x"] * 100_000, "outputs": [{}]}, {"cell_type": "heading", "level": 10**300})
    cells += ({**code, "input": "x = 1", "language": "bash", "prompt_number": "y"},)
    for major in (-1, 0, 1, 2, 3, 4, 5, 10**300, "4", None, True, [], 4.5):
        for minor in (0, 5, 99, -1, "x"):
            made = {"nbformat": major, "nbformat_minor": minor, "metadata": {"jupytext": {"formats": "py:marimo"}}}
            for cell in cells:
                yield "x.ipynb", json.dumps({**made, "cells": [cell], "worksheets": [{"cells": [cell]}]}).encode()


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


def headers_of_scripts() -> Files:
    """In a script's header, name a format that another program reads, or write YAML that explodes or creates objects.

    Harm: a program runs as the grader, or the reader runs out of memory.
    """
    formats = "marimo quarto pandoc spin sphinx myst rmarkdown markdown nomarker hydrogen light percent ipynb ../../x"
    lines = ("text_representation: {extension: .py, format_name: @}", "formats: ipynb,py:@", "main_language: '@'")
    for name in formats.split():
        for line in lines:
            header = ["---", "jupyter:", "  jupytext:", f"    {line.replace('@', name)}", "---"]
            for start in ("", "#!/bin/sh\n", "# -*- coding: utf-8 -*-\n", "\ufeff", "# %% [markdown]\n"):
                text = start + "\n".join(f"# {one}" for one in header) + "\n\n# %%\nimport marimo\napp = marimo.App()\n"
                yield "x.py", text.encode()
                yield "x.ipynb", text.encode()
    bomb = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    bomb += [f"{chr(b)}: &{chr(b)} [{', '.join(['*' + chr(b - 1)] * 9)}]" for b in range(98, 112)]
    tags = ("!!python/object/apply:os.system ['touch /tmp/by-an-attack']", "!!python/name:os.system", "&a [*a]")
    tags += ("{*a : *a}", "!!binary '" + "A" * 1_000_000, "[" * 50_000, "0x" + "f" * 100_000, "2001-99-99", "? ? ? ?")
    for lines in (bomb, *([f"x: {tag}"] for tag in (*tags, "1e" + "9" * 1000))):
        header = ["---", "jupyter:", *(f"  {line}" for line in lines), *lines, "---"]
        yield "x.py", ("\n".join(f"# {line}" for line in header) + "\n\n# %%\nx = 1\n").encode()
        yield "x.ipynb", "\n".join(header).encode()


def marks_of_cells() -> Files:
    """Begin a cell on each line, mix the markers of all formats, and add options to a marker that are parsed as JSON.

    Harm: the parser runs it, never finishes, uses up all memory, or fails in such a way that the file is lost.
    """
    yield "x.py", b"# %%\n" * 200_000
    yield "x.py", b"# %%\nx = 1\n" * 100_000
    yield "x.py", b'"""\n' + b"# %%\n" * 200_000
    yield "x.py", b"# %% [markdown]\n# ```\n" * 50_000
    yield "x.py", b"# " + b"#" * 2_000_000
    yield "x.py", b"%" * 2_000_000
    yield "x.py", (b" " * 10_000 + b"!\n") * 200
    yield "x.py", b"# format_name: light\n" + b"# +\n" * 100_000
    yield "x.py", b"# format_name: light\n" + b"def f():\n\n    x = 1\n\n\n" * 20_000
    yield "x.py", b"x = (\n" * 50_000
    options = ('{"a": ' * 5000, "[" * 100_000, "tags=__import__('os').system('touch /tmp/by-an-attack')", "active='py'")
    options += ('a="' + "\\" * 200_000, "language='bash'", "[raw]", "[markdown]", "%%bash", "cell_type='evil'", "{**x}")
    options += ("a=" * 50_000, "(" * 50_000, 'slideshow={"slide_type": ' + "9" * 10_000 + "}", "lambda: 0", "\u202e")
    for option in (*options, "a=1 a=2 " * 20_000, "id='\ud800'"):
        for text in (
            f"# %% {option}\nx = 1\n\n# %% title {option}\ny = 2\n",
            f"#%%{option}\nx = 1\n# In[{option}]:\n# <codecell>\n# +\n# {option}\n",
        ):
            yield "x.py", text.encode("utf-8", "surrogatepass")


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


def zip_that_is_damaged() -> Files:
    """Hand in zips with flipped bits, missing ends, comments that hold other zips, and passwords.

    Harm: the reader fails in a way that nobody catches.
    """
    data = packed(*((f"{at}.ipynb", b'{"cells": []}' * 50) for at in range(3)), comment=b"PK\x05\x06" + bytes(40))
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


def zip_with_paths_that_lead_out() -> Files:
    """Give files in a zip paths that lead out of it, names in other alphabets, or none; pack links, pipes and devices.

    Harm: a file is attributed to another student, or the target of a link is read from the disk.
    """
    names = ("../../../etc/passwd", "/etc/passwd", "..\\..\\x.ipynb", "C:\\x.ipynb", "c:/x", "\\\\host\\x", "./x", "..")
    names += ("a//b", "a/../../b.ipynb", ".", "", "x\0y.ipynb", "x\ny.ipynb", "\u202ebnypi.x", ".../x.ipynb", "NUL")
    names += ("a/./b.ipynb", "~/x.ipynb", "$HOME/x", "\uff0e\uff0e/x", " ", "__pycache__/x.ipynb", "a" * 5000)
    names += ("x.ipynb/", "a/" * 2000 + "x.ipynb", "x.ipynb", "X.IPYNB", "%2e%2e/x.ipynb")
    kinds = (stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK, stat.S_IFDIR, 0xF000, 0x1000)
    targets = (b"/etc/passwd", b"../../secret.txt", b"@FOLDER@/secret.txt")
    entries = [(name, 0, b"{}") for name in names]
    entries += [("x.ipynb", kind | 0o777, target) for kind in kinds for target in targets]
    for name, mode, data in entries:
        info = zipfile.ZipInfo("x")
        info.filename, info.create_system, info.external_attr = name, 3, mode << 16
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            archive.writestr(info, data)
        yield "x.zip", held.getvalue()
