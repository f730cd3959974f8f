"""Show the first unsolved exercise, check it whenever its sheet is saved, and answer keys."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from fxbook.learning import sheets
from fxbook.learning.exercises import About
from fxbook.learning.watching.attempt import Attempt, attempt
from fxbook.learning.watching.progress import Progress
from fxbook.learning.watching.terminal import ReadKey, keys

_POLL_SECONDS = 0.3
_KEYS = "h hint · n next exercise · l list · c check again · p make a .py of the notebook · q quit"
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"


class Watch:
    """The state of the loop: the exercises in order, what is solved, the current one and what its check said.

    Args:
        folder: where the sheets lie.
        exercises: those to work through, in order.
        progress: what is solved.
    """

    def __init__(self, folder: Path, exercises: Sequence[About], progress: Progress) -> None:
        self.folder, self.exercises, self.progress = folder, exercises, progress
        self.current: About | None = None
        self.last = Attempt(False, "")
        self.hints = 0
        self.said = ""
        self._seen: dict[Path, int] = {}

    @property
    def count(self) -> int:
        """How many of the exercises are solved."""
        return sum(one.id in self.progress for one in self.exercises)

    def advance(self) -> None:
        """Go to the next unsolved exercise, after the current one and round; those that pass by now are solved."""
        start = self.exercises.index(self.current) + 1 if self.current else 0
        for one in [*self.exercises[start:], *self.exercises[:start]]:
            if one.id not in self.progress:
                self.current, self.hints, self.said = one, 0, ""
                self.check()
                if not self.last.passed:
                    return
        if self.count == len(self.exercises):
            self.current = None

    def check(self) -> None:
        """Check the current exercise."""
        if self.current is None:
            return
        self._seen = self._saved()
        self.last = attempt(self.folder, self.current)
        if self.last.passed:
            self.progress.solved(self.current.id)

    def changed(self) -> bool:
        """Whether a sheet of the current exercise was saved since its last check."""
        return self.current is not None and self._saved() != self._seen

    def _saved(self) -> dict[Path, int]:
        assert self.current
        paths = [self.folder / f"{self.current.chapter}{suffix}" for suffix in (".ipynb", ".py")]
        return {path: path.stat().st_mtime_ns for path in paths if path.is_file()}

    def press(self, key: str) -> bool:
        """Act on a key; returns whether to go on."""
        if key == "h" and self.current:
            hints = self.current.hints
            self.hints = min(self.hints + 1, len(hints))
            self.said = "\n".join(f"Hint {i + 1} of {len(hints)}: {hints[i]}" for i in range(self.hints))
        elif key == "n":
            self.advance()
        elif key == "c":
            self.check()
        elif key == "l":
            self.said = "\n".join(f"{'x' if one.id in self.progress else '.'} {one.id}" for one in self.exercises)
        elif key == "p":
            self.said = self._made_script()
        return key != "q"

    def _made_script(self) -> str:
        if self.current is None:
            return ""
        try:
            script = sheets.write_script(self.folder / f"{self.current.chapter}.ipynb")
        except sheets.SheetError as problem:
            return str(problem)
        self._seen = self._saved()
        return f"Made {script.name}: whichever of the two you save last is checked."

    def screen(self) -> str:
        """What the terminal shows."""
        done, total = self.count, len(self.exercises)
        filled = round(24 * done / max(total, 1))
        head = f"torch.fx, Node by Node  [{'#' * filled}{'.' * (24 - filled)}]  {done}/{total}"
        if self.current is None:
            return "\n\n".join(filter(None, [head, f"All {total} exercises are solved.", self.said]))
        one = self.current
        where = f"{one.id} · difficulty {one.difficulty} of 3 · about {one.minutes} minutes"
        file = self.last.path.name if self.last.path else f"{one.chapter}.ipynb"
        after = "Solved. Press n for the next exercise." if self.last.passed else ""
        title = f"{one.title}\n{where}\n{self.folder / file}, `{one.answer}`"
        return "\n\n".join(filter(None, [head, title, self.last.text, after, self.said]))


def watch(
    folder: Path, exercises: Sequence[About], progress: Progress, *, once: bool = False, read_key: ReadKey | None = None
) -> int:
    """Run the loop until ``q``, or with ``once`` check the first unsolved exercise and return.

    Returns:
        The exit status: 0 where every exercise is solved, else 1.
    """
    state = Watch(folder, exercises, progress)
    state.advance()
    if once:
        print(state.screen())
        return 0 if state.current is None else 1
    if read_key:
        return _loop(state, read_key)
    with keys() as read:
        return _loop(state, read)


def _loop(state: Watch, read_key: ReadKey) -> int:
    _show(state)
    while True:
        key = read_key(_POLL_SECONDS)
        if key and not state.press(key):
            return 0 if state.current is None else 1
        if changed := state.changed():
            state.said = ""
            state.check()
        if key or changed:
            _show(state)


def _show(state: Watch) -> None:
    if sys.stdout.isatty():
        print(_CLEAR, end="")
    print(state.screen(), _KEYS, sep="\n\n", flush=True)
