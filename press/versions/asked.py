"""``asked.py PROBE …``: run each of these programs by itself and print, as JSON, the last line that each prints.

Each runs in a fork of a process that has imported torch; where there is no fork, in a process that is started for it.
It runs on any torch, in an environment that may have nothing but torch: it imports the standard library alone.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import traceback
import warnings

_ALONE = "--alone"


def printed_by(path: str) -> str:
    """The last line that a program prints; the error that it raises stands for it."""
    with open(path, encoding="utf-8") as file:  # noqa: PTH123  (as plain as it can be)
        source = file.read()
    written = io.StringIO()
    warnings.simplefilter("ignore")
    try:
        with contextlib.redirect_stdout(written), contextlib.redirect_stderr(io.StringIO()):
            # What this file imports from `__future__` is not the way of the probe.
            exec(compile(source, path, "exec", dont_inherit=True), {"__name__": "__main__"})
    except BaseException as error:
        told = str(error).strip().splitlines()
        return f"{type(error).__name__}: {told[0] if told else ''}".rstrip(": ")
    lines = written.getvalue().strip().splitlines()
    return lines[-1] if lines else ""


def forked(path: str) -> str:
    """As :func:`printed_by`, in a process of its own: a probe leaves nothing behind for the next."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            with os.fdopen(writing, "w", encoding="utf-8") as answer:
                answer.write(printed_by(path))
        except BaseException:
            traceback.print_exc()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as answer:
        told = answer.read()
    os.waitpid(child, 0)
    return told


def started(path: str) -> str:
    """As :func:`forked`, where a process cannot be forked, as on Windows: slower, since each imports torch."""
    done = subprocess.run([sys.executable, __file__, _ALONE, path], capture_output=True, check=True, encoding="utf-8")
    return json.loads(done.stdout.splitlines()[-1])[path]


if __name__ == "__main__":
    # The folder of this script is no place to import from.
    sys.path.pop(0)
    import torch.fx  # noqa: F401

    asked = printed_by if sys.argv[1] == _ALONE else forked if hasattr(os, "fork") else started
    print(json.dumps({path: asked(path) for path in sys.argv[1:] if path != _ALONE}))
