"""``python -m fxbook watch`` runs the exercises in a terminal; ``python -m fxbook solved`` lists the solved ones."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m fxbook", description="Work through the exercises of the book.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("watch", help="find the first unsolved exercise and check it each time you save")
    command.add_argument(
        "start", nargs="?", default="", help="a chapter (05) or an exercise (05-loop): check nothing else"
    )
    command.add_argument("--once", action="store_true", help="check once, print the report and exit")
    command.set_defaults(run=_watch)
    record = commands.add_parser("solved", help="list what you have solved, and when")
    record.set_defaults(run=_solved)
    for one in (command, record):
        one.add_argument(
            "--folder",
            type=Path,
            help="the folder with the exercise notebooks (default: exercises, or the current folder)",
        )
    options = parser.parse_args(arguments)
    options.folder = options.folder or (Path("exercises") if Path("exercises").is_dir() else Path())
    if not options.folder.is_dir():
        print(f"There is no folder {options.folder}.", file=sys.stderr)
        return 2
    return options.run(options)


def _solved(options: argparse.Namespace) -> int:
    from fxbook.catalogue import numbered, of_chapters
    from fxbook.learning.watching.progress import NAME, Progress

    progress, every = Progress(options.folder / NAME), of_chapters()
    done = {chapter: [one for one in own if one.id in progress] for chapter, own in every.items()}
    print(f"{sum(map(len, done.values()))} of {sum(map(len, every.values()))} exercises solved")
    for chapter, own in done.items():
        if own:
            print(f"\n{numbered(chapter)}: {len(own)} of {len(every[chapter])}")
            print("\n".join(f"✓ {progress.day(one.id):<10}  {one.id:<28} {one.title}" for one in own))
    return 0


def _watch(options: argparse.Namespace) -> int:
    # Checked without an import, which takes seconds, so that the first line appears at once.
    if importlib.util.find_spec("jupytext") is None:
        print("Reading notebooks needs jupytext: pip install jupytext", file=sys.stderr)
        return 2
    from fxbook.catalogue import catalogue, unknown
    from fxbook.learning.watching import watch
    from fxbook.learning.watching.progress import NAME, Progress

    folder = options.folder
    exercises = [about for name, about in catalogue().items() if name.startswith(options.start)]
    if not exercises:
        print(unknown(options.start, list(catalogue())), file=sys.stderr)
        return 2
    return watch(folder, exercises, Progress(folder / NAME), once=options.once)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main(sys.argv[1:]))
    sys.exit(130)
