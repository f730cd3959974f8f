"""Submissions that forge a result: through the pipe on which it is sent, or by replacing the code that makes it.

Each cell, together with the lines above the first cell, is a separate submission.
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


def found_mark():
    """The mark at the beginning of each frame, wherever in this process it is found."""
    frame, mark = sys._getframe(), b""
    while frame:
        for value in list(frame.f_locals.values()):
            if isinstance(value, bytes) and re.fullmatch(rb"[0-9a-f]{32}", value):
                mark = value
        frame = frame.f_back
    return mark


def send(claim):
    """Write a complete frame to every descriptor, and exit."""
    mark = found_mark()
    for number in range(3, 256):
        whole = memoryview(mark + b"%016x" % len(claim) + claim)
        with contextlib.suppress(OSError):
            while whole:
                whole = whole[os.write(number, whole) :]
    os._exit(0)


# %% forge_with_the_mark
"""Find the mark of the frames in this process, and send a forged result, which is still only a claim.

Harm: the grader believes the forged result.
"""

send(json.dumps({"failed": [], "observation": {"forged": True}}).encode())


# %% forge_json * 6
"""Send text that is not JSON; JSON too deep, long or large to be read within the limits; or JSON of another form.

Harm: the grader fails on it, runs out of memory or time, or believes it; the next submission gets no result.
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

Harm: the grader waits for the rest of the frame, and the next submission waits too.
"""

for number in range(3, 256):
    with contextlib.suppress(OSError):
        os.write(number, found_mark() + b"%016x" % 1000 + b"[")
time.sleep(1000)


# %% flood_the_channel
"""Write to every descriptor without end.

Harm: the grader reads without end, or the result of the next submission is lost.
"""

while True:
    for number in range(3, 64):
        with contextlib.suppress(OSError):
            os.write(number, b"0123456789abcdef" * 65536)


# %% close_the_channel_and_stay
"""Close every descriptor, so that nobody waits for a result, and never exit.

Harm: the process runs on after the grader has stopped reading, or the silence counts as a right answer.
"""

os.closerange(0, 1024)
while True:
    pass


# %% patch_the_library
"""Replace the library's functions that observe the answer, both in their modules and in their code objects.

Harm: the forged result passes, or the next submission runs with the replacements.
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
"""Return objects that lie about their class, are equal to everything, and run code when they are pickled or printed.

Harm: a lie is believed, or the code runs in the process that reads the result, and creates a file.
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
"""Replace this process by another program (a shell, Python, a file it wrote), given by path and by descriptor.

Harm: another program runs. It reports itself through the inherited pipe: the answer says which program it is.
"""

# The shell uses only builtins, because it might not be allowed to start a process.
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
    return found[:7]  # A shell can redirect only to descriptors 3 to 9 by number.


def surroundings(name):
    claim = json.dumps({"failed": [], "observation": {"cases": [{"value": [f"{name} runs"]}]}})
    return {"PATH": "/usr/bin:/bin", "FRAME": f"{MARK}{len(claim):016x}{claim}"}


def paired(*given):
    with open(OWN, "w") as file:
        file.write(f"#!/bin/sh\n{TELL}\n")
    os.chmod(OWN, 0o755)
    for number, pipe in enumerate(pipes(), 3):
        os.dup2(pipe, number, inheritable=True)
    # The answer's alarm stays set in the new program and would end it.
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
