"""``python -m press COMMAND``: each command installs what it needs in ``.venv``, then runs there."""

from __future__ import annotations

import argparse
import importlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from press import ROOT, rooms
from press.binding import environment


def book(_: argparse.Namespace) -> int:
    """Build the HTML from the committed notebooks and say what to open."""
    bind = importlib.import_module("press.binding.bind")
    try:
        page = bind.build()
    except subprocess.CalledProcessError:
        print("The book was not built: fix the warnings above.", file=sys.stderr)
        return 1
    print(f"The book is built. Open {page.relative_to(ROOT)}")
    return 0


def test(options: argparse.Namespace) -> int:
    """Run the tests that every change needs: style, cells, exercises, library, site; --torch VERSION."""
    own, arguments = _parser_of("--torch").parse_known_args(options.arguments)
    chosen = [] if rooms.names_tests(arguments) else rooms.arguments_of_test()
    if own.torch:
        return _test_on(own.torch, *chosen, *arguments)
    return _style() or _pytest(*chosen, *arguments)


def prove(options: argparse.Namespace) -> int:
    """Run the other tests, by room: --room site, or all rooms in turn; --draw NUMBER, --torch VERSION."""
    own, arguments = _parser_of("--torch", "--room", "--draw").parse_known_args(options.arguments)
    names = own.room or list(rooms.ROOMS)
    for name in names:
        print(f"{name}: {rooms.ROOMS[name]}.", flush=True)
    if "cold" in names:
        os.environ["FXBOOK_DRAW"] = str(own.draw)
        print(
            f"The seed of the random cases is {own.draw}: `make prove ROOM=cold DRAW={own.draw}` repeats it.",
            flush=True,
        )
    failed = [name for name in names if _prove(name, own.torch, arguments)]
    print("\n".join(f"Room {name}: failed." for name in failed) or f"Proven: {', '.join(names)}.")
    return 1 if failed else 0


def _prove(name: str, version: str, arguments: list[str]) -> int:
    print(f"\n==== {name} ====", flush=True)
    chosen = [*rooms.arguments_of_room(name), *arguments]
    if not version:
        return _pytest(*chosen)
    status = _test_on(version, *chosen)
    # Most rooms have no test that depends on torch.
    return 0 if status == _NO_TESTS else status


def notebooks(options: argparse.Namespace) -> int:
    """Generate the notebooks that differ from their manuscript."""
    printing = importlib.import_module("press.printing.notebooks")
    paths = [Path(path).resolve() for path in options.manuscripts]
    book = importlib.import_module("press.book").Book()
    pages = importlib.import_module("press.pages.derived").PAGES
    return 1 if printing.generate(book, paths, options.all, pages) else 0


def quick(options: argparse.Namespace) -> int:
    """Generate, lint and build what changed in a saved manuscript, and say which page to open."""
    paths = [Path(path).resolve() for path in options.manuscripts]
    return importlib.import_module("press.quick").quick(paths)


def exercise(options: argparse.Namespace) -> int:
    """Make a folder for a new exercise that already runs, and say what to fill in."""
    new_exercise = importlib.import_module("press.new_exercise")
    book, problems = importlib.import_module("press.book"), importlib.import_module("press.manuscript.problems")
    try:
        new_exercise.print_next_steps(new_exercise.make(book.Book(), options.id))
    except problems.PressError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def lab(_: argparse.Namespace) -> int:
    """Open JupyterLab on the notebooks, and make it trust them."""
    book = importlib.import_module("press.book").Book()
    return importlib.import_module("press.lab").open_lab(book)


def watch(options: argparse.Namespace) -> int:
    """Work through the exercises in a terminal: each sheet is checked as soon as it is saved."""
    return _python("-m", "fxbook", "watch", *options.arguments)


def serve(options: argparse.Namespace) -> int:
    """Serve the built book on the loopback address."""
    importlib.import_module("press.binding.bind").serve(options.port)
    return 0


def pdf(_: argparse.Namespace) -> int:
    """Make the book as one PDF, for paper."""
    return _edition("pdf")


def epub(_: argparse.Namespace) -> int:
    """Make the book as one EPUB, for an e-reader."""
    return _edition("epub")


def bench(_: argparse.Namespace) -> int:
    """Run the benchmarks."""
    return _python("benchmarks/run.py")


def inventory(_: argparse.Namespace) -> int:
    """Write the inventories of official documentation from their tables in book/_links."""
    return importlib.import_module("press.binding.inventory").write_all()


def card(_: argparse.Namespace) -> int:
    """Draw the preview card for links to the book."""
    return importlib.import_module("press.binding.card").draw()


def pictures(_: argparse.Namespace) -> int:
    """Take the screenshots for the README from the built site, with Chromium."""
    book = importlib.import_module("press.book").Book()
    return importlib.import_module("press.binding.pictures").take(book)


def versions(options: argparse.Namespace) -> int:
    """Run the book on other versions of torch and record the differences; each needs an environment of several GB."""
    try:
        recording = importlib.import_module("press.versions.run")
        return recording.run(options.versions, options.only, facts_alone=options.facts)
    except environment.SetupError as error:
        print(error, file=sys.stderr)
        return 1


def pins(_: argparse.Namespace) -> int:
    """Update the pinned versions from pyproject.toml."""
    return importlib.import_module("press.binding.pins").write()


_IN_PARALLEL = ("-n", str(os.cpu_count() or 1))
# The exit status of pytest if it has collected no tests.
_NO_TESTS = 5
# Show progress and one line for each part of the tests, instead of a dot for each test.
_PROOF = ("-p", "press.proof", "-r", "fE", "--durations", "7")
_COMMANDS = (
    *(book, test, prove, notebooks, quick, exercise, lab, watch, serve, bench),
    *(pdf, epub, pins, inventory, card, pictures, versions),
)
_NEEDS = {
    **dict.fromkeys((lab, watch), environment.LEARN),
    **dict.fromkeys((book, serve, inventory, pdf, epub), environment.BOOK),
    **dict.fromkeys((test, prove, bench, pins, pictures, versions), environment.EVERYTHING),
}
# These commands pass their arguments on to another program, whose options argparse would reject.
_PASS_ON = (test, prove, watch)


def _edition(kind: str) -> int:
    editions = importlib.import_module("extras.editions.make")
    try:
        made = getattr(editions, kind)()
    except editions.EditionError as error:
        print(error, file=sys.stderr)
        return 1
    size = made.stat().st_size / 1e6
    print(f"Open {made.relative_to(ROOT)} ({size:.1f} MB). The next `make book` offers it in the download menu.")
    return 0


def _test_on(version: str, *arguments: str) -> int:
    tested = importlib.import_module("press.versions.tested")
    try:
        python = importlib.import_module("press.versions.environments").ensure(version)
    except environment.SetupError as error:
        print(error, file=sys.stderr)
        return 1
    return _timed([str(python), "-m", "pytest", *_IN_PARALLEL, *_PROOF, *tested.pytest_arguments(arguments, version)])


def _style() -> int:
    print("Checking the style …", flush=True)
    style = _python("-m", "ruff", "check", "--quiet", ".") or _python("-m", "ruff", "format", "--check", "--quiet", ".")
    if not style:
        print("Style: nothing to fix.", flush=True)
    return style


def _pytest(*arguments: str) -> int:
    return _timed([sys.executable, "-m", "pytest", *_IN_PARALLEL, *_PROOF, *arguments])


def _timed(command: list[str]) -> int:
    began, before = time.monotonic(), os.times()
    # Each core already has a test worker: with more threads, torch would wait for cores longer than it computes.
    status = subprocess.run(command, cwd=ROOT, env={"OMP_NUM_THREADS": "1", **os.environ}).returncode
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"{time.monotonic() - began:.0f} s in all, {used:.0f} s of processor time.", flush=True)
    return status


def _parser_of(*names: str) -> argparse.ArgumentParser:
    """A parser for the press's own options, which leaves all others to pytest."""
    parser = argparse.ArgumentParser(prog="python -m press", add_help=False, allow_abbrev=False)
    details: dict[str, dict[str, Any]] = {
        "--torch": {"metavar": "VERSION", "default": ""},
        "--room": {"choices": rooms.ROOMS, "action": "append"},
        "--draw": {"metavar": "NUMBER", "type": int, "default": random.SystemRandom().randrange(10**6)},
    }
    for name in names:
        parser.add_argument(name, **details[name])
    return parser


def _python(*arguments: str) -> int:
    return subprocess.run([sys.executable, *arguments], cwd=ROOT).returncode


def _arguments(given: list[str]) -> argparse.Namespace:
    own = given[:1] if given and given[0] in map(_named, _PASS_ON) else given
    options = _parser().parse_args(own)
    options.arguments = given[len(own) :]
    return options


def _named(command: Callable[[argparse.Namespace], int]) -> str:
    return command.__name__.replace("_", "-")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m press", description="Generate, prove and build the book.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for function in _COMMANDS:
        command = commands.add_parser(_named(function), help=(function.__doc__ or "").splitlines()[0])
        command.set_defaults(run=function, need=_NEEDS.get(function, environment.NOTEBOOKS))
        if function is quick:
            command.add_argument("manuscripts", nargs="*", help="the saved manuscripts (default: all that differ)")
        elif function is exercise:
            command.add_argument("id", help="NN-slug: 03-drop-dropout")
        elif function is notebooks:
            command.add_argument("manuscripts", nargs="*", help="the manuscripts to generate from (default: all)")
            command.add_argument("--all", action="store_true", help="generate all notebooks, even if nothing differs")
        elif function is versions:
            command.add_argument(
                "versions",
                nargs="*",
                metavar="VERSION",
                help="2.15.0, newest, or today, which means a different version every day (default: all)",
            )
            command.add_argument(
                "--only", nargs="+", default=[], metavar="PART", help="run only notebooks whose path contains PART"
            )
            command.add_argument("--facts", action="store_true", help="run only the probes of the facts")
        elif function is serve:
            command.add_argument("--port", type=int, default=8000)
    return parser


def main(arguments: list[str]) -> int:
    options = _arguments(arguments)
    status = environment.run_module(options.need, "press", arguments, ROOT)
    return options.run(options) if status is None else status


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
