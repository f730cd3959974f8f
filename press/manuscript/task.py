"""Read one exercise, a ``task.md``, and split it into the learner's version and the solution.

It begins with its title, the only first-level heading. The markers, each on its own line (docs/authoring.md shows a
whole task):

- in Markdown ``<!-- exercise; difficulty: N; minutes: N; read: CHAPTER#ANCHOR -->`` under the title, then ``<!-- hint
  -->``, ``<!-- solution -->`` and ``<!-- what if -->``, each closed by ``<!-- /hint -->`` and so on;
- under the task ``<!-- tells``, then the sentences of the task that require nothing, one per line, and ``-->``: these
  are for ``tests/checking/test_clauses.py`` and not in the notebook;
- in code ``# stub``, ``# solution``, ``# end``: the lines after ``# stub`` are only for the learner, those after
  ``# solution`` only for the solution.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from press.manuscript.problems import Place, PressError, Problem
from press.manuscript.reading import Cell, Manuscript, prose_lines, read

_OPEN = re.compile(r"^<!-- *(?P<name>exercise|hint|solution|what if)(?: *; *(?P<fields>[^>]*?))? *-->$")
_CLOSE = re.compile(r"^<!-- */(?P<name>hint|solution|what if) *-->$")
_CODE_MARK = re.compile(r"^ *# (?P<name>stub|solution|end)$")
_CHECK = re.compile(r'^check\("(?P<id>[^"]+)", (?P<answer>\w+)\)$')
_TELLS = "<!-- tells"
_FORM = "<!-- exercise; difficulty: 1; minutes: 5; read: CHAPTER#ANCHOR -->"
_ORDER = "the order is # stub, # solution, # end"
HINTS = 2


@dataclasses.dataclass(frozen=True)
class Code:
    """A code cell in its three forms: as written, the learner's and the solution's; without markers, all are equal."""

    written: Cell
    stub: Cell
    solution: Cell

    @property
    def is_answer(self) -> bool:
        return self.stub.source != self.solution.source


@dataclasses.dataclass
class Exercise:
    id: str
    path: Path
    title: str = ""
    difficulty: int = 0
    minutes: int = 0
    read: str = ""
    line: int = 1
    task: str = ""
    tells: tuple[str, ...] = ()
    code: list[Code] = dataclasses.field(default_factory=list)
    answer: str = ""
    hints: list[str] = dataclasses.field(default_factory=list)
    why: str = ""
    what_if: str = ""

    @property
    def stub(self) -> list[Cell]:
        return [code.stub for code in self.code]

    @property
    def solution(self) -> list[Cell]:
        return [code.solution for code in self.code]

    def place(self, line: int = 0) -> Place:
        """A line in its file; by default the line with its marker."""
        return Place(self.path, line or self.line)


def read_task(path: Path, identity: str) -> Exercise:
    """Read one exercise with the id ``NN-slug``.

    Raises:
        PressError: a notebook cannot show it, a marker is not closed, not opened or unknown, or a part is missing.
    """
    manuscript = read(path, headed=False)
    exercise = Exercise(identity, path)
    _describe(manuscript, exercise)
    for cell in manuscript.cells:
        if cell.kind == "code":
            _add_code(cell, exercise)
        else:
            _add_prose(cell, exercise)
    _refuse_incomplete(exercise)
    return exercise


def _describe(manuscript: Manuscript, exercise: Exercise) -> None:
    first = manuscript.cells[0] if manuscript.cells else Cell("code", "", 1)
    title = first.source.split("\n", 1)[0]
    if first.kind == "code" or not title.startswith("# "):
        raise PressError(manuscript.problem(first.line, "an exercise begins with its title: # Take out every dropout"))
    exercise.title = title.removeprefix("# ").strip()
    found = ((number, match) for number, line in prose_lines(first) if (match := _OPEN.match(line)))
    exercise.line, marker = next(found, (first.line, None))
    if marker is None or marker["name"] != "exercise":
        raise PressError(manuscript.problem(first.line, f"write {_FORM} under the title of the exercise"))
    parts = [part.split(":", 1) for part in (marker["fields"] or "").split(";") if ":" in part]
    fields = {name.strip(): value.strip() for name, value in parts}
    if set(fields) != {"difficulty", "minutes", "read"} or "#" not in fields["read"]:
        message = f"give its difficulty (1 to 3), minutes and what to read, in this form: {_FORM}"
        raise PressError(exercise.place().problem(message))
    if fields["difficulty"] not in {"1", "2", "3"} or not fields["minutes"].isdigit():
        raise PressError(exercise.place().problem("difficulty is 1, 2 or 3, and minutes is a whole number"))
    exercise.difficulty, exercise.minutes = int(fields["difficulty"]), int(fields["minutes"])
    exercise.read = fields["read"]


def _add_prose(cell: Cell, exercise: Exercise) -> None:
    """Sort the lines of a markdown cell into the task, the hints, the solution and the what-if."""
    prose = dict(prose_lines(cell))
    task: list[str] = []
    block: list[str] | None = None
    opened, name = 0, ""
    for number, line in enumerate(cell.source.split("\n"), start=cell.line):
        marker = line.strip() if number in prose else ""
        start, end = _opened(marker), _closed(marker, name)
        if number == exercise.line:
            continue
        if (marker.startswith(("# ", "## ")) and number > exercise.line) or start == "exercise":
            message = "this would begin another exercise, which needs a folder of its own"
            raise PressError(exercise.place(number).problem(message))
        if start:
            if block is not None:
                raise PressError(_never_closed(exercise, opened, name))
            block, opened, name = [], number, start
        elif end:
            if block is None or end != name:
                message = f"{marker} closes nothing: open <!-- {end} --> first"
                raise PressError(exercise.place(number).problem(message))
            _keep(exercise, name, "\n".join(block).strip())
            block, name = None, ""
        elif marker.startswith("<!--"):
            message = f"unknown marker {marker}: the markers are exercise, tells, hint, solution, what if"
            raise PressError(exercise.place(number).problem(message))
        elif block is not None:
            block.append(line)
        else:
            task.append(line)
    if block is not None:
        raise PressError(_never_closed(exercise, opened, name))
    text = "\n".join(task).strip().removeprefix(f"# {exercise.title}").strip()
    if text and exercise.code:
        message = "text after the code belongs in a hint, solution or what-if block"
        raise PressError(exercise.place(cell.line).problem(message))
    exercise.task = f"{exercise.task}\n\n{text}".strip()


def _opened(line: str) -> str:
    """The name of the block that a line opens, or ``""``."""
    match = _OPEN.match(line)
    return match["name"] if match else "tells" if line == _TELLS else ""


def _closed(line: str, inside: str) -> str:
    """The name of the block that a line closes, or ``""``; ``inside`` is the open block."""
    match = _CLOSE.match(line)
    return match["name"] if match else "tells" if line == "-->" and inside == "tells" else ""


def _never_closed(exercise: Exercise, line: int, name: str) -> Problem:
    opened, closed = (_TELLS, "-->") if name == "tells" else (f"<!-- {name} -->", f"<!-- /{name} -->")
    return exercise.place(line).problem(f"{opened} is not closed: add {closed}")


def _keep(exercise: Exercise, name: str, text: str) -> None:
    if name == "hint":
        exercise.hints.append(text)
    elif name == "tells":
        exercise.tells = tuple(text.splitlines())
    elif name == "solution":
        exercise.why = text
    else:
        exercise.what_if = text


def _add_code(cell: Cell, exercise: Exercise) -> None:
    if match := _CHECK.match(cell.source.strip()):
        if match["id"] != exercise.id:
            message = f"this cell checks {match['id']!r} inside the exercise {exercise.id!r}"
            raise PressError(exercise.place(cell.line).problem(message))
        exercise.answer = match["answer"]
    exercise.code.append(_forms(cell, exercise))


def _forms(cell: Cell, exercise: Exercise) -> Code:
    lines: dict[str, list[str]] = {"stub": [], "solution": []}
    state, opened = "end", 0
    follows = {"stub": "end", "solution": "stub", "end": "solution"}
    for number, line in enumerate(cell.source.split("\n"), start=cell.line):
        if match := _CODE_MARK.match(line):
            name = match["name"]
            if state != follows[name]:
                message = f"'# {name}' must follow '# {follows[name]}': {_ORDER}"
                raise PressError(exercise.place(number).problem(message))
            state, opened = name, number
        elif state == "end":
            lines["stub"].append(line)
            lines["solution"].append(line)
        else:
            lines[state].append(line)
    if state != "end":
        raise PressError(exercise.place(opened).problem(f"'# {state}' is not closed: {_ORDER}"))
    forms = {name: dataclasses.replace(cell, source="\n".join(of_form)) for name, of_form in lines.items()}
    return Code(cell, **forms)


def _refuse_incomplete(exercise: Exercise) -> None:
    parts = {
        "a task": exercise.task,
        f'a cell check("{exercise.id}", …)': exercise.answer,
        "a cell with # stub, # solution, # end": any(code.is_answer for code in exercise.code),
        f"{HINTS} hints": len(exercise.hints) == HINTS,
        "a <!-- solution --> that says why": exercise.why,
        "a <!-- what if -->": exercise.what_if,
    }
    if lacking := [part for part, is_there in parts.items() if not is_there]:
        raise PressError(exercise.place().problem(f"{exercise.id}: lacks {'; '.join(lacking)}"))
