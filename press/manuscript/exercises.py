"""Split an exercise manuscript into what the learner gets and what the solution shows.

The markers, each on a line of its own (CONTRIBUTING.md shows a whole exercise):

- in Markdown ``<!-- exercise: ID; difficulty: N; minutes: N; read: CHAPTER#ANCHOR -->`` under the heading of the task,
  then ``<!-- hint -->``, ``<!-- solution -->`` and ``<!-- what if -->``, each closed by ``<!-- /hint -->`` and so on;
- in code ``# stub``, ``# solution``, ``# end``: what stands after ``# stub`` is for the learner alone, what stands
  after ``# solution`` for the solution alone.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from press.manuscript.problems import PressError
from press.manuscript.reading import Cell, Manuscript, prose_lines

_OPEN = re.compile(r"^<!-- *(?P<name>exercise|hint|solution|what if)(?: *: *(?P<fields>[^>]*?))? *-->$")
_CLOSE = re.compile(r"^<!-- */(?P<name>hint|solution|what if) *-->$")
_CODE_MARK = re.compile(r"^ *# (?P<name>stub|solution|end)$")
_CHECK = re.compile(r'^check\("(?P<id>[^"]+)", (?P<answer>\w+)\)$')
_FORM = "<!-- exercise: ID; difficulty: 1; minutes: 5; read: CHAPTER#ANCHOR -->"
_ORDER = "the order is # stub, # solution, # end"
_ID = re.compile(r"^\d\d-[a-z0-9]+(-[a-z0-9]+)*$")
HINTS = 2


@dataclasses.dataclass
class Exercise:
    """One exercise as the manuscript tells it; ``stub`` and ``answer`` are the two forms of its code cells."""

    id: str
    title: str
    difficulty: int
    minutes: int
    read: str
    line: int
    task: str = ""
    stub: list[Cell] = dataclasses.field(default_factory=list)
    solution: list[Cell] = dataclasses.field(default_factory=list)
    answer: str = ""
    hints: list[str] = dataclasses.field(default_factory=list)
    why: str = ""
    what_if: str = ""


@dataclasses.dataclass(frozen=True)
class ExerciseSheet:
    """An exercise manuscript, split: what stands before the first exercise, and the exercises."""

    manuscript: Manuscript
    title: str
    opening: tuple[Cell, ...]
    exercises: tuple[Exercise, ...]


def split(manuscript: Manuscript) -> ExerciseSheet:
    """Split an exercise manuscript.

    Raises:
        PressError: a marker is not closed, not opened or unknown; an exercise lacks a part; an id is used twice.
    """
    opening: list[Cell] = []
    exercises: list[Exercise] = []
    for cell in manuscript.cells:
        if cell.kind == "code":
            _add_code(manuscript, cell, exercises, opening)
            continue
        for part in _sections(cell):
            heading = part.source.split("\n", 1)[0]
            if heading.startswith("## "):
                exercises.append(_open(manuscript, part, heading.removeprefix("## ").strip()))
            if exercises:
                _add_prose(manuscript, part, exercises[-1])
            else:
                opening.append(part)
    title = opening[0].source.split("\n", 1)[0] if opening else ""
    if not title.startswith("# Exercises: "):
        raise PressError(
            manuscript.problem(opening[0].line if opening else 1, "the title must begin with '# Exercises: '")
        )
    for exercise in exercises:
        _complete(manuscript, exercise)
    seen: dict[str, int] = {}
    for exercise in exercises:
        if exercise.id in seen:
            message = f"the id {exercise.id!r} is used twice, first at line {seen[exercise.id]}: choose another"
            raise PressError(manuscript.problem(exercise.line, message))
        seen[exercise.id] = exercise.line
    return ExerciseSheet(manuscript, title.removeprefix("# Exercises: "), tuple(opening), tuple(exercises))


def _sections(cell: Cell) -> Iterator[Cell]:
    """A markdown cell, cut before each second-level heading."""
    lines = cell.source.split("\n")
    cuts = [number - cell.line for number, line in prose_lines(cell) if line.startswith("## ")]
    starts = [0, *(cut for cut in cuts if cut)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        source = "\n".join(lines[start:end]).rstrip()
        if source:
            yield dataclasses.replace(cell, source=source, line=cell.line + start)


def _open(manuscript: Manuscript, part: Cell, title: str) -> Exercise:
    for number, line in prose_lines(part):
        if (match := _OPEN.match(line)) and match["name"] == "exercise":
            return _described(manuscript, number, title, match["fields"] or "")
    message = f"a second-level heading opens an exercise: write {_FORM} under it"
    raise PressError(manuscript.problem(part.line, message))


def _described(manuscript: Manuscript, line: int, title: str, described: str) -> Exercise:
    first, *rest = [field.strip() for field in described.split(";")]
    fields = dict(tuple(part.strip() for part in field.split(":", 1)) for field in rest if ":" in field)
    chapter = manuscript.path.name[:2]
    if not _ID.match(first) or not first.startswith(chapter):
        raise PressError(manuscript.problem(line, f"the id {first!r} must be {chapter}-words-in-lower-case"))
    if set(fields) != {"difficulty", "minutes", "read"} or "#" not in fields["read"]:
        message = f"{first}: give its difficulty (1 to 3), minutes and what to read, in this form: {_FORM}"
        raise PressError(manuscript.problem(line, message))
    if fields["difficulty"] not in {"1", "2", "3"} or not fields["minutes"].isdigit():
        raise PressError(manuscript.problem(line, f"{first}: difficulty is 1, 2 or 3, and minutes is a whole number"))
    return Exercise(first, title, int(fields["difficulty"]), int(fields["minutes"]), fields["read"], line)


def _add_prose(manuscript: Manuscript, part: Cell, exercise: Exercise) -> None:
    """Sort the lines of a markdown cell into the task, the hints, the why and the what-if."""
    prose = dict(prose_lines(part))
    task: list[str] = []
    block: list[str] | None = None
    opened, name = 0, ""
    for number, line in enumerate(part.source.split("\n"), start=part.line):
        marker = line.strip() if number in prose else ""
        start, end = _OPEN.match(marker), _CLOSE.match(marker)
        if start and start["name"] == "exercise":
            continue
        if start:
            if block is not None:
                raise PressError(manuscript.problem(opened, f"<!-- {name} --> is not closed: add <!-- /{name} -->"))
            block, opened, name = [], number, start["name"]
        elif end:
            if block is None or end["name"] != name:
                message = f"{marker} closes nothing: open <!-- {end['name']} --> first"
                raise PressError(manuscript.problem(number, message))
            _keep(exercise, name, "\n".join(block).strip())
            block = None
        elif marker.startswith("<!--"):
            message = f"unknown marker {marker}: legal are exercise, hint, solution, what if"
            raise PressError(manuscript.problem(number, message))
        elif block is not None:
            block.append(line)
        else:
            task.append(line)
    if block is not None:
        raise PressError(manuscript.problem(opened, f"<!-- {name} --> is not closed: add <!-- /{name} -->"))
    text = "\n".join(task).strip().removeprefix(f"## {exercise.title}").strip()
    if text and exercise.stub:
        message = f"{exercise.id}: text after the code belongs in a hint, solution or what-if block"
        raise PressError(manuscript.problem(part.line, message))
    exercise.task = f"{exercise.task}\n\n{text}".strip()


def _keep(exercise: Exercise, name: str, text: str) -> None:
    if name == "hint":
        exercise.hints.append(text)
    elif name == "solution":
        exercise.why = text
    else:
        exercise.what_if = text


def _add_code(manuscript: Manuscript, cell: Cell, exercises: list[Exercise], opening: list[Cell]) -> None:
    stub, solution = _two_forms(manuscript, cell)
    if not exercises:
        if stub is not solution:
            message = "a stub before the first exercise: give it a heading and an id"
            raise PressError(manuscript.problem(cell.line, message))
        opening.append(cell)
        return
    exercise = exercises[-1]
    if match := _CHECK.match(cell.source.strip()):
        if match["id"] != exercise.id:
            message = f"this cell checks {match['id']!r} inside the exercise {exercise.id!r}"
            raise PressError(manuscript.problem(cell.line, message))
        exercise.answer = match["answer"]
    exercise.stub.append(stub)
    exercise.solution.append(solution)


def _two_forms(manuscript: Manuscript, cell: Cell) -> tuple[Cell, Cell]:
    """The learner's form and the solution's form of a code cell; the very same cell twice when it has no marker."""
    forms: dict[str, list[str]] = {"stub": [], "solution": []}
    state, opened = "end", 0
    follows = {"stub": "end", "solution": "stub", "end": "solution"}
    for number, line in enumerate(cell.source.split("\n"), start=cell.line):
        if match := _CODE_MARK.match(line):
            name = match["name"]
            if state != follows[name]:
                message = f"'# {name}' must follow '# {follows[name]}': {_ORDER}"
                raise PressError(manuscript.problem(number, message))
            state, opened = name, number
        elif state == "end":
            forms["stub"].append(line)
            forms["solution"].append(line)
        else:
            forms[state].append(line)
    if state != "end":
        raise PressError(manuscript.problem(opened, f"'# {state}' is not closed: {_ORDER}"))
    if opened == 0:
        return cell, cell
    stub, solution = (dataclasses.replace(cell, source="\n".join(forms[name])) for name in ("stub", "solution"))
    return stub, solution


def _complete(manuscript: Manuscript, exercise: Exercise) -> None:
    missing = [
        what
        for what, found in (
            ("a task", exercise.task),
            (f'a cell check("{exercise.id}", …)', exercise.answer),
            ("a cell with # stub, # solution, # end", exercise.stub != exercise.solution),
            (f"{HINTS} hints", len(exercise.hints) == HINTS),
            ("a <!-- solution --> that says why", exercise.why),
            ("a <!-- what if -->", exercise.what_if),
        )
        if not found
    ]
    if missing:
        raise PressError(manuscript.problem(exercise.line, f"{exercise.id}: lacks {'; '.join(missing)}"))
