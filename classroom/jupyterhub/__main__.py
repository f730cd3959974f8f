"""``python -m classroom.jupyterhub COMMAND``: serve the exercises to a class, and gather the answers."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path

from classroom.jupyterhub import place
from classroom.jupyterhub.collect import CollectError, collect, homes
from press.binding.environment import EVERYTHING, NOTEBOOKS, run_module


def serve(options: argparse.Namespace) -> int:
    """Start the hub; it runs until you stop it with Ctrl+C."""
    config = options.config or Path(__file__).with_name("jupyterhub_config.py")
    return os.execv(sys.executable, [sys.executable, "-m", "jupyterhub", "-f", str(config)])


def passwords(options: argparse.Namespace) -> int:
    """Make a password for each student in students.txt who has none, and print them: this once, nothing keeps them."""
    here = place.here()
    here.make()
    listed = here.root / "students.txt"
    if not (names := here.roster):
        print(f"Write the names of your students into {listed}, one a line.", file=sys.stderr)
        return 1
    if wrong := [name for name in names if not place.is_name(name)]:
        print(
            f"{listed}: take other names for {', '.join(wrong)}: letters, digits and . _ @ - alone, 63 at most.",
            file=sys.stderr,
        )
        return 1
    if unknown := [name for name in options.new if name not in names]:
        print(f"{listed} does not name {', '.join(unknown)}.", file=sys.stderr)
        return 1
    issue = importlib.import_module("classroom.jupyterhub.passwords").issue
    for name, password in issue(here.passwords, names, options.new).items():
        print(f"{name},{password}")
    return 0


def gather(options: argparse.Namespace) -> int:
    """Copy the students' notebooks of one release into a folder that `python -m classroom grade` reads."""
    here = place.here()
    release = options.release if options.release.exists() else here.releases / options.release.name
    try:
        collected = collect(release, homes(here, options.accounts), options.out)
    except CollectError as error:
        print(error, file=sys.stderr)
        return 1
    for problem in collected.problems:
        print(problem)
    total = sum(collected.notebooks.values())
    print(f"{total} notebooks of {len(collected.notebooks)} students are in {options.out}.")
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m classroom.jupyterhub", description=__doc__.partition(": ")[2])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serving = commands.add_parser("serve", help=serve.__doc__, description=serve.__doc__)
    serving.add_argument("--config", type=Path, help="a configuration of your own (README.md says how to begin it)")
    serving.set_defaults(run=serve, needs_hub=True)
    making = commands.add_parser("passwords", help=passwords.__doc__, description=passwords.__doc__)
    making.add_argument("--new", nargs="+", default=[], metavar="NAME", help="who has lost theirs and gets a new one")
    making.set_defaults(run=passwords, needs_hub=True)
    collecting = commands.add_parser("collect", help=gather.__doc__, description=gather.__doc__)
    collecting.add_argument("release", type=Path, help="the zip that was handed out, week1.zip for example")
    collecting.add_argument("--out", type=Path, required=True, help="the folder to write")
    collecting.add_argument(
        "--accounts", action="store_true", help="the students have accounts on this machine and stand in students.txt"
    )
    collecting.set_defaults(run=gather, needs_hub=False)
    return parser


def main(arguments: list[str]) -> int:
    """Run a command; return its exit status."""
    options = _arguments().parse_args(arguments)
    status = run_module(EVERYTHING if options.needs_hub else NOTEBOOKS, "classroom.jupyterhub", arguments)
    return options.run(options) if status is None else status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
