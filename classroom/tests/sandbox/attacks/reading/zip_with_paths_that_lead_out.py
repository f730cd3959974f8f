"""Name files in a zip by paths that lead out of it, by devices, by other alphabets and by nothing.

Harm: a file is taken for one of another student, or read from the disk.
"""

import io
import zipfile

NAMES = (
    "../../../etc/passwd",
    "/etc/passwd",
    "..\\..\\x.ipynb",
    "C:\\x.ipynb",
    "c:/x",
    "\\\\host\\x",
    "a/../../b.ipynb",
    "./x",
    "a//b",
    "..",
    ".",
    "",
)
NAMES += (
    "x\0y.ipynb",
    "x\ny.ipynb",
    "\u202ebnypi.x",
    "...",
    ".../x.ipynb",
    "a/./b.ipynb",
    "~/x.ipynb",
    "$HOME/x",
    "\uff0e\uff0e/x",
    "NUL",
    " ",
)
NAMES += (
    "__pycache__/x.ipynb",
    "a" * 5000,
    "a/" * 2000 + "x.ipynb",
    "x.ipynb/",
    "x.ipynb",
    "x.ipynb",
    "X.IPYNB",
    "%2e%2e/x.ipynb",
)


def handed_in():
    for name in NAMES:
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            info = zipfile.ZipInfo("x")
            info.filename = name
            archive.writestr(info, b"{}")
        yield "x.zip", held.getvalue()
