"""The numbers for a class: by student and exercise, students who are stuck, and cases for the teacher to look at."""

from __future__ import annotations

import dataclasses
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from classroom.assignment import Assignment
from classroom.grade.records import Mark, Status
from classroom.reports.ideas import Cause, Idea, sections, troubles, wrong_ideas
from classroom.reports.similarity import Alike, alike
from classroom.reports.wording import SHORT, count, readable
from fxbook.grading import About

_MOST_PASS = 0.75
_FEW = 5
# Students with a smaller share of the points for what they have begun may be stuck.
_LITTLE = 0.5
_MANY_VERSIONS = 4
_BEGUN: tuple[Status, ...] = ("passed", "public", "failed")


@dataclasses.dataclass(frozen=True)
class Student:
    """A student with one mark per exercise, in the order of the assignment; ``shared``: another has that name."""

    key: str
    name: str
    shared: bool
    marks: tuple[Mark, ...]

    @property
    def points(self) -> float:
        return sum(mark.points for mark in self.marks)

    @property
    def out_of(self) -> float:
        """The maximum points of the graded exercises."""
        return sum(mark.out_of for mark in self.marks if mark.status != "error")

    @property
    def versions(self) -> int:
        return max((mark.attempts for mark in self.marks), default=0)

    @property
    def passed(self) -> int:
        """The number of exercises whose public checks passed."""
        return self.having("passed", "public")

    @property
    def begun(self) -> float:
        return sum(mark.out_of for mark in self.marks if mark.status in _BEGUN)

    @property
    def silent(self) -> bool:
        """Whether the student handed in nothing, or only stubs."""
        return all(mark.status == "missing" for mark in self.marks)

    def having(self, *statuses: Status) -> int:
        return sum(mark.status in statuses for mark in self.marks)


@dataclasses.dataclass(frozen=True)
class Question:
    """An exercise: the number of students by status, and the median number of versions."""

    about: About
    statuses: Mapping[Status, int]
    versions_passed: float | None
    versions_failed: float | None
    ideas: tuple[Idea, ...]

    @property
    def passed(self) -> int:
        """The number of students whose public checks passed."""
        return self.statuses["passed"] + self.statuses["public"]

    @property
    def students(self) -> int:
        return sum(self.statuses.values())

    @property
    def tried(self) -> int:
        """The number of students with a graded answer."""
        return self.students - self.statuses["missing"] - self.statuses["error"]


@dataclasses.dataclass(frozen=True)
class Unproven:
    """A claim on which passing answers rely, and which the grader could not verify."""

    what: str
    exercises: tuple[str, ...]
    students: tuple[Student, ...]


@dataclasses.dataclass(frozen=True)
class Pair:
    students: tuple[Student, Student]
    answers: tuple[Alike, ...]


Seen = tuple[Student, str, list[str]]
"""A student, a text, and the exercises that the text is about."""


@dataclasses.dataclass(frozen=True)
class Overview:
    """All data of the class report and the summary. Students are sorted by name."""

    assignment: Assignment
    students: tuple[Student, ...]
    questions: tuple[Question, ...]
    ideas: tuple[Idea, ...]
    sections: tuple[Cause, ...]
    troubles: tuple[Cause, ...]
    stuck: tuple[tuple[Student, tuple[str, ...]], ...]
    unproven: tuple[Unproven, ...]
    pairs: tuple[Pair, ...]

    @property
    def total(self) -> float:
        return sum(self.assignment.points.get(about.id, 0.0) for about in self.assignment.exercises)

    @property
    def median(self) -> float:
        return _median(self.students)

    @property
    def passed(self) -> int:
        return sum(question.passed for question in self.questions)

    @property
    def graded(self) -> int:
        """The number of possible answers: students times exercises."""
        return len(self.students) * len(self.questions)

    @property
    def nobody(self) -> list[Question]:
        """Exercises that were tried but that nobody passed: the exercise or the machine may be at fault."""
        return [question for question in self.questions if question.tried >= _FEW and not question.passed]

    @property
    def unreadable(self) -> list[Seen]:
        """Unreadable files, one row each, however many exercises are in a file."""
        return self._seen(lambda mark: (mark.for_teacher or mark.message) if mark.status == "unreadable" else None)

    @property
    def errors(self) -> list[Seen]:
        return self._seen(lambda mark: (mark.for_teacher or mark.message) if mark.status == "error" else None)

    @property
    def late_to_look_at(self) -> list[Seen]:
        """Students whose lateness the teacher should check, with the reason and the exercises."""
        return self._seen(lambda mark: mark.late_note or None)

    @property
    def not_found(self) -> list[Seen]:
        """Sheets that a student worked on but from which an answer is missing."""
        return self._seen(lambda mark: mark.remark if mark.status == "missing" and mark.remark else None)

    @property
    def renamed(self) -> list[tuple[Student, list[Mark]]]:
        """Students whose answers were found under other names."""
        rows = [
            (student, [mark for mark in student.marks if mark.status != "missing" and mark.remark])
            for student in self.students
        ]
        return [(student, marks) for student, marks in rows if marks]

    def _seen(self, what: Callable[[Mark], str | None]) -> list[Seen]:
        rows: dict[tuple[str, str], Seen] = {}
        for student in self.students:
            for mark in student.marks:
                text = what(mark)
                if text is not None:
                    rows.setdefault((student.key, text), (student, text, []))[2].append(mark.exercise)
        return list(rows.values())


def overview(assignment: Assignment, marks: Sequence[Mark]) -> Overview:
    """Summarise the marks of a class.

    The later of two marks for the same student and exercise counts. Marks for other exercises are ignored, and a
    missing mark counts as not graded yet.
    """
    students = _students(assignment, marks)
    every = [mark for student in students for mark in student.marks]
    ideas = wrong_ideas(assignment.exercises, every)
    questions = tuple(_question(about, every, ideas) for about in assignment.exercises)
    return Overview(
        assignment=assignment,
        students=students,
        questions=questions,
        ideas=tuple(ideas),
        sections=sections(ideas),
        troubles=troubles(ideas),
        stuck=_stuck(students, questions),
        unproven=_unproven(students),
        pairs=_pairs(students, alike(assignment.exercises, every)),
    )


def _students(assignment: Assignment, marks: Sequence[Mark]) -> tuple[Student, ...]:
    given: dict[str, dict[str, Mark]] = defaultdict(dict)
    ids = {about.id for about in assignment.exercises}
    for mark in marks:
        if mark.exercise in ids:
            given[mark.key][mark.exercise] = readable(mark)
    names = {key: next(iter(own.values())).student for key, own in given.items()}
    bearers = Counter(names.values())
    students = []
    for key, own in given.items():
        name = names[key]
        rest = (about.id for about in assignment.exercises if about.id not in own)
        own |= {name_: Mark(key, name, name_, "error", out_of=assignment.points.get(name_, 0.0)) for name_ in rest}
        students.append(Student(key, name, bearers[name] > 1, tuple(own[about.id] for about in assignment.exercises)))
    return tuple(sorted(students, key=lambda student: (student.name.casefold(), student.key)))


def _median(students: Sequence[Student]) -> float:
    return statistics.median([student.points for student in students if not student.silent] or [0.0])


def _question(about: About, marks: list[Mark], ideas: list[Idea]) -> Question:
    own = [mark for mark in marks if mark.exercise == about.id]
    counts = Counter(mark.status for mark in own)
    passed = [mark.attempts for mark in own if mark.status in ("passed", "public")]
    failed = [mark.attempts for mark in own if mark.status == "failed"]
    return Question(
        about=about,
        statuses={status: counts[status] for status in SHORT},
        versions_passed=statistics.median(passed) if passed else None,
        versions_failed=statistics.median(failed) if failed else None,
        ideas=tuple(idea for idea in ideas if idea.exercise.id == about.id),
    )


def _stuck(students: Sequence[Student], questions: Sequence[Question]) -> tuple[tuple[Student, tuple[str, ...]], ...]:
    """Students who need help, with reasons; those who solved the smallest share of what they began come first."""
    easy = [
        at
        for at, question in enumerate(questions)
        if question.tried >= _FEW and question.passed >= _MOST_PASS * question.tried
    ]
    versions = [mark.attempts for student in students for mark in student.marks if mark.attempts]
    many = max(_MANY_VERSIONS, 2 * statistics.median(versions or [0]))
    middle = _median(students)
    rows = []
    for student in students:
        begun, failing = student.having(*_BEGUN), student.having("failed")
        missed = [questions[at].about.id for at in easy if student.marks[at].status == "failed"]
        # A single slip by a student who does well otherwise does not count.
        behind = len(missed) > 1 and student.points < middle
        if not failing or not (behind or student.points < _LITTLE * student.begun):
            continue
        reasons = [f"passes {student.passed or 'none'} of {count(begun, 'exercise')} begun"]
        if missed:
            more = f" and {len(missed) - 3} more" if len(missed) > 3 else ""
            reasons.append(f"fails what most pass: {', '.join(missed[:3])}{more}")
        worst = max((mark for mark in student.marks if mark.status == "failed"), key=lambda mark: mark.attempts)
        if worst.attempts >= many:
            reasons.append(f"{worst.attempts} versions handed in")
        rows.append((student, tuple(reasons)))
    return tuple(sorted(rows, key=lambda row: (row[0].points / (row[0].begun or 1), row[0].points)))


def _pairs(students: Sequence[Student], answers: Sequence[Alike]) -> tuple[Pair, ...]:
    """Group similar answers by pair of students; pairs with the most exercises come first."""
    by_key = {student.key: student for student in students}
    answers_of: dict[tuple[str, str], list[Alike]] = defaultdict(list)
    for answer in answers:
        answers_of[answer.marks[0].key, answer.marks[1].key].append(answer)
    rows = [Pair((by_key[first], by_key[second]), tuple(own)) for (first, second), own in answers_of.items()]
    return tuple(sorted(rows, key=lambda row: (-len(row.answers), -row.answers[0].share)))


def _of_substance(what: str) -> bool:
    """Whether the claim is about the result itself; nearly every pass relies on claims about how it was made."""
    return what.startswith("what ")


def _unproven(students: Sequence[Student]) -> tuple[Unproven, ...]:
    passes: dict[str, list[tuple[Student, str]]] = defaultdict(list)
    for student in students:
        for mark in student.marks:
            if mark.status in ("passed", "public"):
                for what in filter(_of_substance, dict.fromkeys(mark.unproven)):
                    passes[what].append((student, mark.exercise))
    rows = [
        Unproven(
            what,
            tuple(dict.fromkeys(name for _, name in own)),
            tuple({student.key: student for student, _ in own}.values()),
        )
        for what, own in passes.items()
    ]
    # Claims about the graph come first, then those on which few answers rely.
    return tuple(sorted(rows, key=lambda row: (not row.what.startswith("what the graph"), len(row.students))))
