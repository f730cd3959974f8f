"""Show the first unsolved exercise, check it whenever its sheet is saved, and respond to key presses."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from fxbook.catalogue import About, numbered, of_chapters, row
from fxbook.learning import sheets
from fxbook.learning.watching import screen
from fxbook.learning.watching.attempt import Attempt, attempt
from fxbook.learning.watching.progress import Progress
from fxbook.learning.watching.terminal import ReadKey, keys

_POLL_SECONDS = 0.3
_KEYS = "h hint · n next exercise · l list · c check again · p make a .py from the notebook · q quit"
_TITLE = "torch.fx, Node by Node"
_BAR = 24


class Watch:
    """The state of the loop: the exercises in order, the solved ones, the current one and its last check."""

    def __init__(self, folder: Path, exercises: Sequence[About], progress: Progress) -> None:
        self.folder, self.exercises, self.progress = folder, exercises, progress
        self.current: About | None = None
        self.last = Attempt(False, "")
        self.hints = 0
        self.said = ""
        # The first line of the text on the screen, and the line to continue with.
        self.first = self.later = 0
        self._seen: dict[Path, int] = {}

    @property
    def count(self) -> int:
        return sum(one.id in self.progress for one in self.exercises)

    def advance(self) -> None:
        """Go to the next unsolved exercise; the first follows the last. Record those that pass as solved."""
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
        if self.current is None:
            return
        self._seen = self._saved()
        screen.note(f"Checking {self.current.id} … {self.head()}", screen.size())
        self.last = attempt(self.folder, self.current)
        if self.last.passed:
            self.progress.solved(self.current.id)

    def changed(self) -> bool:
        return self.current is not None and self._saved() != self._seen

    def _saved(self) -> dict[Path, int]:
        assert self.current
        paths = [self.folder / f"{self.current.chapter}{suffix}" for suffix in (".ipynb", ".py")]
        return {path: path.stat().st_mtime_ns for path in paths if path.is_file()}

    def press(self, key: str) -> bool:
        """Act on a key press; return whether to go on."""
        self.first = self.later if key == " " else 0
        if key == "h" and self.current:
            hints = self.current.hints
            self.hints = min(self.hints + 1, len(hints))
            self.said = "\n".join(f"Hint {i + 1} of {len(hints)}: {hints[i]}" for i in range(self.hints))
        elif key == "n":
            self.advance()
        elif key == "c":
            self.check()
        elif key == "l":
            self.said = "\n\n".join(self._listed(*chapter) for chapter in of_chapters(self.exercises).items())
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

    def _listed(self, chapter: str, exercises: Sequence[About]) -> str:
        return "\n".join([self.sum(chapter), *(row(one, one.id in self.progress) for one in exercises)])

    def sum(self, chapter: str) -> str:
        return f"{numbered(chapter)}: {self._counted(of_chapters()[chapter])}"

    def _counted(self, exercises: Sequence[About]) -> str:
        return f"{sum(one.id in self.progress for one in exercises)} of {len(exercises)}"

    def head(self) -> str:
        every = [one for chapter in of_chapters().values() for one in chapter]
        done = sum(one.id in self.progress for one in every)
        filled = _BAR * done // max(len(every), 1)
        chapter = f" · {self.sum(self.current.chapter)}" if self.current else ""
        return f"{_TITLE}  [{'#' * filled}{'.' * (_BAR - filled)}]  {self._counted(every)} solved{chapter}"

    def body(self) -> str:
        if self.current is None:
            return "\n\n".join(filter(None, [f"All {len(self.exercises)} exercises are solved.", self.said]))
        one = self.current
        where = f"{one.id} · difficulty {one.difficulty} of 3 · about {one.minutes} minutes"
        file = self.last.path.name if self.last.path else f"{one.chapter}.ipynb"
        after = "Solved. Press n for the next exercise." if self.last.passed else ""
        title = f"{one.title}\n{where}\n{_short(self.folder / file)}, `{one.answer}`"
        # The response to the last key comes first, since it must be on the screen.
        return "\n\n".join(filter(None, [self.said, title, self.last.text, after]))


def _short(path: Path) -> str:
    """The path relative to the working directory, if that is shorter."""
    try:
        return min(os.path.relpath(path), str(path), key=len)
    except ValueError:
        return str(path)


def watch(
    folder: Path, exercises: Sequence[About], progress: Progress, *, once: bool = False, read_key: ReadKey | None = None
) -> int:
    """Run the loop until ``q``, or with ``once`` check the first unsolved exercise and return.

    Returns:
        The exit status: 0 if every exercise is solved, else 1.
    """
    state = Watch(folder, exercises, progress)
    screen.note(f"{state.head()} …", screen.size())
    state.advance()
    if once:
        text = f"{state.head()}\n\n{state.body()}"
        space = screen.size()
        print("\r" + "\n".join(screen.lines(text, space.columns)) if space else text)
        return 0 if state.current is None else 1
    if read_key:
        return _loop(state, read_key)
    with keys() as read:
        return _loop(state, read)


def _loop(state: Watch, read_key: ReadKey) -> int:
    space = screen.size()
    _show(state, space)
    while True:
        key = read_key(_POLL_SECONDS)
        if key and not state.press(key):
            print()
            return 0 if state.current is None else 1
        if changed := state.changed():
            state.said, state.first = "", 0
            state.check()
        before, space = space, screen.size()
        if key or changed or space != before:
            _show(state, space)


def _show(state: Watch, space: screen.Size | None) -> None:
    if space is None:
        print(state.head(), state.body(), _KEYS, sep="\n\n", flush=True)
    else:
        shown, state.later = screen.fitted(state.head(), state.body(), _KEYS, space, state.first)
        screen.show(shown)
