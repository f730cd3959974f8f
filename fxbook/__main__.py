"""``python -m fxbook watch``: the exercises in a terminal."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m fxbook", description="Work through the exercises of the book.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("watch", help="find the first unsolved exercise and check it at every save")
    command.add_argument("start", nargs="?", default="", help="a chapter (05) or an exercise (05-loop) to keep to")
    command.add_argument(
        "--folder", type=Path, help="where the notebooks of exercises lie (default: exercises, or here)"
    )
    command.add_argument("--once", action="store_true", help="check once, print the report and leave")
    return _watch(parser.parse_args(arguments))


def _watch(options: argparse.Namespace) -> int:
    # To import it takes seconds, and the first line is to be there at once.
    if importlib.util.find_spec("jupytext") is None:
        print("Reading notebooks needs jupytext: pip install jupytext", file=sys.stderr)
        return 2
    from fxbook.catalogue import catalogue, unknown
    from fxbook.learning.watching import watch
    from fxbook.learning.watching.progress import NAME, Progress

    folder = options.folder or (Path("exercises") if Path("exercises").is_dir() else Path())
    if not folder.is_dir():
        print(f"There is no folder {folder}.", file=sys.stderr)
        return 2
    exercises = [about for name, about in catalogue().items() if name.startswith(options.start)]
    if not exercises:
        print(unknown(options.start, list(catalogue())), file=sys.stderr)
        return 2
    return watch(folder, exercises, Progress(folder / NAME), once=options.once)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main(sys.argv[1:]))
    sys.exit(130)
