"""The output of `make watch` fits the terminal, breaks no word, appears at once, and has the book's counts."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from fxbook.catalogue import catalogue, of_chapters
from fxbook.learning.watching.loop import Watch
from fxbook.learning.watching.progress import NAME, Progress
from fxbook.learning.watching.screen import Size, fitted, lines
from press import ROOT
from press.book import the_book

# For each exercise: its title, hints, and follow-up question.
TEXTS = ["\n".join((about.title, *about.hints, about.what_if)) for about in catalogue().values()]
TEXT = "\n".join(TEXTS)
HEAD, KEYS = (
    "torch.fx, Node by Node  [####....]  2 of 9 solved · chapter 00: 2 of 5",
    "h hint · n next exercise · q quit",
)
SIZES = [Size(20, 6), Size(40, 10), Size(80, 24), Size(79, 25), Size(120, 40), Size(200, 60)]
_CLEARED = re.compile(rb"\x1b\[H\x1b\[2J")
_MARKS = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.mark.parametrize("columns", [24, 39, 60, 79, 119])
def test_no_word_that_fits_is_broken(columns: int) -> None:
    shown = lines(TEXT, columns)
    assert max(map(len, shown)) <= columns
    whole = [word for word in TEXT.split() if len(word) <= columns]
    assert set(whole) <= {word for line in shown for word in line.split()}
    assert "".join("".join(shown).split()) == "".join(TEXT.split()), "nothing is lost"


def test_control_characters_are_replaced() -> None:
    assert lines("a\x1b[2Jb\rc\td", 40) == ["a [2Jb c   d"]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size.columns}x{size.rows}")
def test_screens_fit_and_space_shows_the_next(size: Size) -> None:
    # A part of the texts, since all would fill hundreds of screens.
    text, first, read = "\n".join(TEXTS[::8]), 0, []
    while True:
        shown, first = fitted(HEAD, text, KEYS, size, first)
        assert len(shown) <= size.rows and max(map(len, shown)) <= size.columns
        read += shown
        if first == 0:
            break
    body = lines(text, max(size.columns - 1, 20))
    assert set(body) <= set(read)


@contextlib.contextmanager
def terminal(columns: int, rows: int, *arguments: str, path: Path = ROOT) -> Iterator[int]:
    """The loop in a pseudo-terminal of this size; ``path`` comes first on Python's search path."""
    import pty

    process, fd = pty.fork()
    if process == 0:
        while os.get_terminal_size(0).columns == 0:  # wait for the size
            time.sleep(0.01)
        os.chdir(ROOT)
        # A complete environment, since readline may have set sizes in the process's that Python does not see.
        environment = {**os.environ, "PYTHONPATH": f"{path}{os.pathsep}{ROOT}", "TERM": "xterm"}
        for size in ("COLUMNS", "LINES"):  # pytest-xdist sets these.
            environment.pop(size, None)
        os.execve(sys.executable, [sys.executable, "-m", "fxbook", "watch", *arguments], environment)
    resize(fd, columns, rows)
    try:
        yield fd
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(fd)


def resize(fd: int, columns: int, rows: int) -> None:
    import fcntl
    import termios

    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def until(fd: int, wanted: bytes, last: bytes = b"") -> bytes:
    """The output up to the wanted text, and on to the next ``last``."""
    shown = b""
    while wanted not in shown or not shown.endswith(last):
        shown += os.read(fd, 65536)
    return shown


def screen(fd: int, wanted: bytes) -> bytes:
    """The output up to the end of a screen with the wanted text."""
    return until(fd, wanted, b"quit")


def screens(printed: bytes) -> list[list[str]]:
    """The lines of each screen."""
    parts = [_MARKS.sub(b"", part).decode() for part in _CLEARED.split(printed)[1:]]
    return [part.replace("\r\n", "\n").split("\n") for part in parts]


needs_terminal = pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")


@needs_terminal
def test_no_screen_is_larger_than_the_terminal(tmp_path: Path) -> None:
    cells = ["import torch\nfrom torch import fx, nn", "def layers_in_order(model):\n    return []"]
    document = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(document, tmp_path / "00_first_graph.ipynb")
    with terminal(44, 12, "00", "--folder", str(tmp_path)) as fd:
        printed = screen(fd, b"quit")
        for key, wanted in ((b"h", b"Hint 1"), (b"h", b"press space"), (b" ", b"Hint 2"), (b"l", b"chapter 00: 0 of")):
            os.write(fd, key)
            printed += screen(fd, wanted)
        narrow = screens(printed)
        assert len(narrow) >= 5 and any("press space" in line for screen in narrow for line in screen)
        assert [screen for screen in narrow if len(screen) > 12 or max(map(len, screen)) > 44] == []
        resize(fd, 100, 40)
        wide = screens(screen(fd, b"quit"))[-1]
        assert max(map(len, wide)) > 44 and len(wide) <= 40, "the screen is drawn again when the terminal is resized"


@needs_terminal
def test_first_line_appears_before_imports(tmp_path: Path) -> None:
    for name in ("torch", "jupytext", "nbformat"):
        (tmp_path / f"{name}.py").write_text("import time\nwhile True:\n    time.sleep(600)\n")
    with terminal(80, 24, "--folder", str(tmp_path), path=tmp_path) as fd:
        assert b"torch.fx, Node by Node" in until(fd, f"0 of {len(catalogue())} solved".encode())


def test_counts_include_the_whole_book(tmp_path: Path) -> None:
    progress = Progress(tmp_path / NAME)
    chapters = of_chapters()
    chapter = chapters["03_replacement"]
    for one in (*chapter[:2], chapters["00_first_graph"][0]):
        progress.solved(one.id)
    progress.solved("03-an-exercise-of-an-older-book")
    state = Watch(tmp_path, chapter, progress)
    state.current = chapter[2]
    assert f"3 of {len(catalogue())} solved · chapter 03: 2 of {len(chapter)}" in state.head()
    state.press("l")
    first, second = state.said.splitlines()[:2]
    one = chapter[0]
    assert first == f"chapter 03: 2 of {len(chapter)}" and second.startswith(f"✓ {one.id} ")
    trains = the_book().headings("03_replacement")[one.read.partition("#")[2]].replace("`", "")
    assert second.endswith(f"{one.difficulty} of 3 {one.minutes:>3} min  {one.title} · {trains}")
    assert state.said.splitlines()[3].startswith(f"· {chapter[2].id} ")
