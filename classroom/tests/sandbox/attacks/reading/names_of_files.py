"""Name a file as a path, a template, an option or half a character: its name goes into messages.

Harm: another file is read, or a message shows something else.
"""

NAMES = (
    "../../etc/passwd",
    "/etc/passwd",
    "-rf.py",
    "x\0.py",
    "x\n.py",
    "\ud800.py",
    "\u202eyp.x",
    "{0.__class__}.py",
    "%s%n.py",
    "x" * 5000,
)
NAMES += (
    "con.py",
    "http://127.0.0.1/x.py",
    "x.py;touch by-an-attack",
    "$(touch by-an-attack).py",
    "<script>.py",
    ".py",
    "",
    "x.py/..",
)


def handed_in():
    for name in NAMES:
        for data in (b"# %%\nx = 1", b"{", b"\xff"):
            yield name, data
