"""A manuscript that cannot be printed gets a message with file and line; its earlier notebook stays as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from press.manuscript.exercises import split
from press.manuscript.problems import PressError
from press.manuscript.reading import HEADER, anchor, headings, read
from press.printing.derive import derive
from press.printing.notebooks import print_notebooks

Write = Callable[..., Path]
FIRST = len(HEADER.splitlines()) + 2

CHAPTER = """
# Title

## The six opcodes

```{code-cell} ipython3
1 + 1
```
"""
EXERCISE = """
# Exercises: title

```{code-cell} ipython3
import fxbook
```

## Write relu

<!-- exercise: 01-write-relu; difficulty: 1; minutes: 5; read: 01_x#the-six-opcodes -->

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
    "colon fence": ("# T\n\n:::{tip}\nhello\n:::", FIRST + 2, "the MyST directive"),
    "role": ("# T\n\nsee {ref}`there`", FIRST + 2, "the MyST role 'ref' would show as raw text"),
    "label": ("(here)=\n# T", FIRST, "the MyST label 'here' would show as raw text"),
    "comment": ("# T\n\n% a note to myself", FIRST + 2, "the MyST comment"),
    "unknown tag": (
        "# T\n\n```{code-cell} ipython3\n:tags: [hide_input]\n1\n```",
        FIRST + 4,
        "unknown cell tag 'hide_input': legal are hide-input",
    ),
    "unknown option": ("# T\n\n```{code-cell} ipython3\n:name: a\n1\n```", FIRST + 4, "unknown cell option 'name'"),
    "tags that are not YAML": ("# T\n\n```{code-cell} ipython3\n:tags: [a\n1\n```", FIRST + 2, "is not valid MyST"),
    "open fence": ("# T\n\n```{code-cell} ipython3\n1\n", FIRST + 2, "the fence ``` opened here is never closed"),
    "nested cell": ("# T\n\n- a\n\n  ```{code-cell} ipython3\n  1\n  ```", FIRST + 4, "must stand at the left margin"),
    "empty cell": ("# T\n\n```{code-cell} ipython3\n```", FIRST + 3, "an empty code cell"),
}


@pytest.mark.parametrize("name", BAD_CHAPTERS)
def test_bad_chapter_is_refused_at_its_line(name: str, write: Write) -> None:
    body, line, message = BAD_CHAPTERS[name]
    path = write("chapters/01_x.md", body)
    with pytest.raises(PressError) as caught:
        read(path)
    assert f"01_x.md:{line}: " in str(caught.value)
    assert message in str(caught.value)


def test_missing_header_is_refused(write: Write) -> None:
    path = write("chapters/01_x.md", CHAPTER, header="---\njupytext: {}\n---\n")
    with pytest.raises(PressError, match=r"01_x\.md:2: is not valid MyST: the header must be"):
        read(path)


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


MARKER = "<!-- exercise: 01-write-relu; difficulty: 1; minutes: 5; read: 01_x#the-six-opcodes -->"
# What is replaced, by what, the line that is named (the marker of the exercise where it is empty) and the message.
BAD_EXERCISES = {
    "solution not closed": ("    # end\n", "", "    # solution", "'# solution' is not closed: the order is # stub"),
    "stub not closed": ('    # solution\n    return "relu"\n    # end\n', "", "    # stub", "'# stub' is not closed"),
    "no stub": ("    # stub\n    return None\n", "", "    # solution", "'# solution' must follow '# stub'"),
    "why not closed": ("<!-- /solution -->\n", "", "<!-- solution -->", "<!-- solution --> is not closed"),
    "last block not closed": ("<!-- /what if -->", "", "<!-- what if -->", "<!-- what if --> is not closed"),
    "closes nothing": ("<!-- hint -->\nOne.", "One.", "<!-- /hint -->", "<!-- /hint --> closes nothing"),
    "unknown marker": ("<!-- what if -->", "<!-- whatif -->", "<!-- whatif -->", "unknown marker <!-- whatif -->"),
    "no check": ('check("01-write-relu", relu)', "relu()", "", 'lacks a cell check("01-write-relu", …)'),
    "check of another": ('k("01-write-relu"', 'k("01-other"', 'check("01-other", relu)', "checks '01-other' inside"),
    "one hint": ("<!-- hint -->\nOne.\n<!-- /hint -->\n", "", "", "lacks 2 hints"),
    "no why": ("<!-- solution -->\nWhy.\n<!-- /solution -->\n", "", "", "lacks a <!-- solution --> that says why"),
    "foreign id": (
        "exercise: 01-",
        "exercise: 02-",
        MARKER.replace("01-", "02-", 1),
        "the id '02-write-relu' must be 01-",
    ),
    "id without a check": (
        "exercise: 01-write-relu",
        "exercise: 01-write-gelu",
        MARKER.replace("relu", "gelu"),
        "01-write-gelu has no check: add an Exercise of that id to fxbook/checks/chapter_01.py",
    ),
    "no minutes": ("minutes: 5; ", "", MARKER.replace("minutes: 5; ", ""), "give its difficulty (1 to 3), minutes"),
    "difficulty 4": ("ty: 1", "ty: 4", MARKER.replace("ty: 1", "ty: 4"), "difficulty is 1, 2 or 3"),
    "no exercise marker": (MARKER + "\n", "", "## Write relu", "a second-level heading opens an exercise"),
    "no such heading": ("#the-six", "#the-ten", MARKER.replace("#the-six", "#the-ten"), "names no heading of 01_x.md"),
    "no title": ("# Exercises: title", "# Tasks", "# Tasks", "the title must begin with '# Exercises: '"),
}


@pytest.mark.parametrize("name", BAD_EXERCISES)
def test_bad_exercise_is_refused_at_its_line(name: str, write: Write, project: Path) -> None:
    old, new, blamed, message = BAD_EXERCISES[name]
    write("chapters/01_x.md", CHAPTER)
    assert old in EXERCISE
    body = EXERCISE.replace(old, new, 1)
    if name == "id without a check":
        body = EXERCISE.replace("01-write-relu", "01-write-gelu")
    path = write("exercises/01_x.md", body)
    with pytest.raises(PressError) as caught:
        derive(path, {}, project)
    assert message in str(caught.value)
    line = path.read_text().splitlines().index(blamed or MARKER) + 1
    assert f"01_x.md:{line}: " in str(caught.value)


def test_an_id_used_twice_is_refused(write: Write) -> None:
    _, task = EXERCISE.split("## Write relu", 1)
    path = write("exercises/01_x.md", EXERCISE + "\n## Write relu again" + task)
    first, second = (number for number, line in enumerate(path.read_text().splitlines(), start=1) if line == MARKER)
    with pytest.raises(
        PressError, match=f"01_x.md:{second}: the id '01-write-relu' is used twice, first at line {first}"
    ):
        split(read(path))


def test_the_learner_gets_the_stub_and_the_solution_the_answer(write: Write, project: Path) -> None:
    write("chapters/01_x.md", CHAPTER)
    exercise, solution = derive(write("exercises/01_x.md", EXERCISE), {"01-write-relu": "not yet"}, project)
    stub = next(cell.source for cell in exercise.notebook.cells if cell.source.startswith("def relu"))
    answer = next(cell.source for cell in solution.notebook.cells if cell.source.startswith("def relu"))
    assert (stub, answer) == ("def relu():\n    return None", 'def relu():\n    return "relu"')
    text = "\n".join(cell.source for cell in exercise.notebook.cells)
    assert "not yet" in text and "Why." not in text and "<!--" not in text
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
def test_a_cell_that_stops_the_print_leaves_the_earlier_notebook(
    name: str, write: Write, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write("chapters/01_x.md", CHAPTER)
    assert print_notebooks([path], root=project) == 0
    printed = project / "chapters" / "01_x.ipynb"
    before = printed.read_bytes()
    source, message = STOPS[name]
    write("chapters/01_x.md", CHAPTER.replace("1 + 1", source))
    capsys.readouterr()
    assert print_notebooks([path], root=project) == 1
    stderr = capsys.readouterr().err
    assert f"01_x.md:{FIRST + 5}: {message}" in stderr
    assert "Traceback" not in stderr
    assert printed.read_bytes() == before
    assert [file.name for file in printed.parent.iterdir()] == ["01_x.ipynb"]


def test_one_bad_manuscript_does_not_stop_the_others(write: Write, project: Path) -> None:
    write("chapters/01_x.md", CHAPTER)
    write("chapters/02_y.md", "# T\n\n{ref}`a`\n\n```{code-cell} ipython3\n1\n```")
    assert print_notebooks(root=project) == 1
    assert [file.name for file in (project / "chapters").iterdir()] == ["01_x.ipynb"]


def test_a_solution_that_does_not_pass_is_not_printed(
    write: Write, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("chapters/01_x.md", CHAPTER)
    reports = "def check(identity, answer):\n    return 'not yet: ' + str(answer())"
    path = write("exercises/01_x.md", EXERCISE.replace("import fxbook", reports))
    assert print_notebooks([path], root=project) == 1
    line = next(n for n, text in enumerate(path.read_text().splitlines(), start=1) if text.startswith("check("))
    said = capsys.readouterr().err
    assert f"01_x.md:{line}: the solution of 01-write-relu does not pass its check" in said
    assert not (project / "solutions").exists() or not list((project / "solutions").glob("*.ipynb"))
