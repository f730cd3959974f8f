"""A manuscript with a mistake gets a message with file and line, and its notebook stays unchanged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from press.book import Book
from press.manuscript.problems import PressError
from press.manuscript.reading import HEADER, anchor, headings, read
from press.printing.derive import derive, with_reports
from press.printing.notebooks import generate

Write = Callable[..., Path]
FIRST = len(HEADER.splitlines()) + 2

CHAPTER = """
# Title

## The six opcodes

```{code-cell} ipython3
1 + 1
```
"""
OPENING = """
# Exercises: title

```{code-cell} ipython3
import fxbook
```
"""
TASK = """
# Write relu

<!-- exercise; difficulty: 1; minutes: 5; read: 01_x#the-six-opcodes -->

Write it.

```{code-cell} ipython3
def relu():
    # stub
    return None
    # solution
    return "relu"
    # end
```

```{code-cell} ipython3
check("01-write-relu", relu)
```

<!-- hint -->
One.
<!-- /hint -->

<!-- hint -->
Two.
<!-- /hint -->

<!-- solution -->
Why.
<!-- /solution -->

<!-- what if -->
Then.
<!-- /what if -->
"""

BAD_CHAPTERS = {
    "directive": ("# T\n\n```{note}\nhello\n```", FIRST + 2, "the MyST directive 'note' would show as raw text"),
    "role": ("# T\n\nsee {ref}`there`", FIRST + 2, "the MyST role 'ref' would show as raw text"),
    "label": ("(here)=\n# T", FIRST, "the MyST label 'here' would show as raw text"),
    "comment": ("# T\n\n% a note to myself", FIRST + 2, "the MyST comment"),
    "unknown tag": (
        "# T\n\n```{code-cell} ipython3\n:tags: [hide_input]\n1\n```",
        FIRST + 4,
        "unknown cell tag 'hide_input': the tags are hide-input",
    ),
    "unknown option": ("# T\n\n```{code-cell} ipython3\n:name: a\n1\n```", FIRST + 4, "unknown cell option 'name'"),
    "open fence": ("# T\n\n```{code-cell} ipython3\n1\n", FIRST + 2, "the fence ``` opened here is never closed"),
    "empty cell": ("# T\n\n```{code-cell} ipython3\n```", FIRST + 3, "an empty code cell"),
}


@pytest.mark.parametrize("name", BAD_CHAPTERS)
def test_bad_chapter_is_rejected_at_its_line(name: str, write: Write) -> None:
    body, line, message = BAD_CHAPTERS[name]
    path = write("chapters/01_x.md", body)
    with pytest.raises(PressError) as caught:
        read(path)
    assert f"01_x.md:{line}: " in str(caught.value)
    assert message in str(caught.value)


def test_every_fault_of_a_manuscript_is_listed(write: Write) -> None:
    path = write("chapters/01_x.md", "# T\n\n{ref}`a`\n\n{doc}`b`")
    with pytest.raises(PressError) as caught:
        read(path)
    assert len(caught.value.problems) == 2


def test_code_in_prose_may_look_like_myst(write: Write) -> None:
    body = "# T\n\nwrite `` {ref}`a` `` or `{x}`\n\n```text\n{ref}`a`\n% x\n(a)=\n```"
    assert len(read(write("chapters/01_x.md", body)).cells) == 1


def test_a_heading_has_the_anchor_that_sphinx_gives_it(write: Write) -> None:
    body = "# Create `nodes`: all *six*\n\n```python\n# not a heading\n```\n\n## What people get wrong?"
    found = headings(read(write("chapters/01_x.md", body)))
    assert list(found) == ["create-nodes-all-six", "what-people-get-wrong"]
    assert anchor("Two nodes, one anchor") == "two-nodes-one-anchor"


MARKER = "<!-- exercise; difficulty: 1; minutes: 5; read: 01_x#the-six-opcodes -->"
# The text to replace, its replacement, the reported line (or the exercise's marker if empty), and the message.
BAD_TASKS = {
    "solution not closed": ("    # end\n", "", "    # solution", "'# solution' is not closed: the order is # stub"),
    "no stub": ("    # stub\n    return None\n", "", "    # solution", "'# solution' must follow '# stub'"),
    "why not closed": ("<!-- /solution -->\n", "", "<!-- solution -->", "<!-- solution --> is not closed"),
    "tells not closed": ("<!-- hint -->\nOne", "<!-- tells\n<!-- hint -->\nOne", "<!-- tells", "closed: add -->"),
    "unknown marker": ("<!-- what if -->", "<!-- whatif -->", "<!-- whatif -->", "unknown marker <!-- whatif -->"),
    "no check": ('check("01-write-relu", relu)', "relu()", "", 'lacks a cell check("01-write-relu", …)'),
    "one hint": ("<!-- hint -->\nOne.\n<!-- /hint -->\n", "", "", "lacks 2 hints"),
    "no why": ("<!-- solution -->\nWhy.\n<!-- /solution -->\n", "", "", "lacks a <!-- solution --> that says why"),
    "difficulty 4": ("ty: 1", "ty: 4", MARKER.replace("ty: 1", "ty: 4"), "difficulty is 1, 2 or 3"),
    "no title": ("# Write relu\n", "Write relu\n", "Write relu", "an exercise begins with its title"),
    "no such heading": ("#the-six", "#the-ten", MARKER.replace("#the-six", "#the-ten"), "names no heading of 01_x.md"),
    "a second title": ("Write it.", "## Write gelu", "## Write gelu", "this would begin another exercise"),
}


@pytest.fixture
def sheet(project: Path, write: Write) -> Path:
    """A folder with one valid exercise."""
    write("chapters/01_x.md", CHAPTER)
    folder = project / "fxbook" / "tasks" / "01_x"
    slug = folder / "write_relu"
    slug.mkdir(parents=True)
    for name in ("cases.py", "check.py", "answers.py"):
        (slug / name).touch()
    (slug / "task.md").write_text(TASK.strip())
    (folder / "opening.md").write_text(OPENING.strip())
    (folder / "__init__.py").write_text('ORDER = ("write_relu",)')
    return folder


def refusal(sheet: Path) -> str:
    with pytest.raises(PressError) as caught:
        derive(Book(sheet.parents[2]), sheet)
    return str(caught.value)


@pytest.mark.parametrize("name", BAD_TASKS)
def test_bad_task_is_rejected_at_its_line(name: str, sheet: Path) -> None:
    old, new, blamed, message = BAD_TASKS[name]
    assert old in TASK
    path = sheet / "write_relu" / "task.md"
    path.write_text(TASK.replace(old, new, 1).strip())
    line = path.read_text().splitlines().index(blamed or MARKER) + 1
    said = refusal(sheet)
    assert message in said
    assert f"01_x/write_relu/task.md:{line}: " in said


BAD_OPENINGS = {
    "no title": ("# Exercises: title", "# Tasks", 1, "the title must begin with '# Exercises: '"),
    "a second heading": ("```{", "## Run this\n\n```{", 3, "a second-level heading would look like an exercise"),
    "a stub": ("import fxbook", "# stub\n# solution\n# end", 4, "a stub belongs in the task.md of an exercise"),
}


@pytest.mark.parametrize("name", BAD_OPENINGS)
def test_bad_opening_is_rejected_at_its_line(name: str, sheet: Path) -> None:
    old, new, line, message = BAD_OPENINGS[name]
    path = sheet / "opening.md"
    path.write_text(OPENING.replace(old, new, 1).strip())
    said = refusal(sheet)
    assert message in said
    assert f"01_x/opening.md:{line}: " in said


# A change to the folder, and the message.
BAD_FOLDERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "no opening": (lambda folder: (folder / "opening.md").unlink(), "opening.md:1: is missing: write the opening"),
    "no order": (lambda folder: (folder / "__init__.py").unlink(), "__init__.py:1: is missing: write ORDER = ("),
    "an entry without a folder": (
        lambda folder: (folder / "__init__.py").write_text('ORDER = ("write_relu", "write_gelu")'),
        "'write_gelu' in ORDER has no folder: `python -m press exercise 01-write-gelu` makes one",
    ),
    "a folder that is not in the order": (
        lambda folder: (folder / "write_relu").rename(folder / "write_gelu"),
        "the folder 'write_gelu' is not in ORDER: add it where it belongs",
    ),
    "no task": (lambda folder: (folder / "write_relu" / "task.md").unlink(), "write_relu/task.md:1: is missing"),
    "no check": (
        lambda folder: (folder / "write_relu" / "check.py").unlink(),
        "check.py:1: is missing: 01-write-relu needs task.md, cases.py, check.py, answers.py in one folder",
    ),
}


@pytest.mark.parametrize("name", BAD_FOLDERS)
def test_bad_folder_is_rejected_with_a_fix(name: str, sheet: Path) -> None:
    damage, message = BAD_FOLDERS[name]
    damage(sheet)
    assert message in refusal(sheet)


def test_the_exercise_has_the_stub_and_the_solution_has_the_answer(sheet: Path) -> None:
    (sheet / "write_relu" / "task.md").write_text(TASK.strip().replace("it.", "it.\n\n<!-- tells\nWrite it.\n-->"))
    exercise, solution = derive(Book(sheet.parents[2]), sheet)
    exercise = with_reports(exercise, {"01-write-relu": "not yet"})
    stub = next(cell.source for cell in exercise.notebook.cells if cell.source.startswith("def relu"))
    answer = next(cell.source for cell in solution.notebook.cells if cell.source.startswith("def relu"))
    assert (stub, answer) == ("def relu():\n    return None", 'def relu():\n    return "relu"')
    text = "\n".join(cell.source for cell in exercise.notebook.cells)
    assert "not yet" in text and "Why." not in text and "<!--" not in text
    assert text.count("Write it.") == 1
    assert "[The six opcodes](../chapters/01_x.ipynb#the-six-opcodes)" in text


STOPS = {
    "raises": ("print(1)\nmissing", "the cell raises NameError: name 'missing' is not defined"),
    "writes to stderr": ("import sys\nprint('careful', file=sys.stderr)", "the cell writes to stderr: careful"),
    "kills its kernel": ("import os\nos._exit(1)", "the kernel died in this cell"),
    "shows a PNG": (
        "from IPython.display import Image\nImage(b'\\x89PNG\\r\\n\\x1a\\n' + bytes(32), format='png')",
        "nbval does not compare image/png",
    ),
}


@pytest.mark.parametrize("name", STOPS)
def test_a_failure_keeps_the_earlier_notebook(
    name: str, write: Write, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write("chapters/01_x.md", CHAPTER)
    assert generate(Book(project), [path]) == 0
    notebook = project / "chapters" / "01_x.ipynb"
    before = notebook.read_bytes()
    source, message = STOPS[name]
    write("chapters/01_x.md", CHAPTER.replace("1 + 1", source))
    capsys.readouterr()
    assert generate(Book(project), [path]) == 1
    stderr = capsys.readouterr().err
    assert f"01_x.md:{FIRST + 5}: {message}" in stderr
    assert "Traceback" not in stderr
    assert notebook.read_bytes() == before
    assert [file.name for file in notebook.parent.iterdir()] == ["01_x.ipynb"]


REPORTS = "def check(identity, answer):\n    return 'not yet: ' + str(answer())"


def test_no_notebook_is_written_if_a_solution_does_not_pass(sheet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (sheet / "opening.md").write_text(OPENING.strip().replace("import fxbook", REPORTS))
    assert generate(Book(sheet.parents[2]), [sheet / "write_relu" / "task.md"]) == 1
    line = TASK.strip().splitlines().index('check("01-write-relu", relu)') + 1
    said = capsys.readouterr().err
    assert f"write_relu/task.md:{line}: the solution of 01-write-relu does not pass its check" in said
    assert not (sheet.parents[2] / "solutions").exists() or not list((sheet.parents[2] / "solutions").glob("*.ipynb"))


def test_an_error_in_an_exercise_names_the_file_of_its_cell(sheet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (sheet / "opening.md").write_text(OPENING.strip().replace("import fxbook", "1 / 0"))
    assert generate(Book(sheet.parents[2]), [sheet]) == 1
    assert "01_x/opening.md:4: the cell raises ZeroDivisionError" in capsys.readouterr().err
    (sheet / "opening.md").write_text(OPENING.strip().replace("import fxbook", REPORTS))
    (sheet / "write_relu" / "task.md").write_text(TASK.strip().replace("def relu", "missing\n\n\ndef relu"))
    assert generate(Book(sheet.parents[2]), [sheet]) == 1
    assert "write_relu/task.md:8: the cell raises NameError: name 'missing'" in capsys.readouterr().err
