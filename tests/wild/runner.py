"""Run programs in one process, which imports torch once, and print their output as JSON."""

import contextlib
import io
import json
import runpy
import sys


def output(path: str) -> list[str]:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        runpy.run_path(path, run_name="__main__")
    return printed.getvalue().splitlines()


if __name__ == "__main__":
    json.dump([output(path) for path in sys.argv[1:]], sys.stdout)
