"""``python -m classroom COMMAND``: the commands for teachers, from the zip for students to the report on the class."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from classroom.assignment import Assignment, AssignmentError, load, of_chapters
from classroom.collect.names import shown
from press import ROOT
from press.binding.environment import EVERYTHING, NOTEBOOKS, run_module

if TYPE_CHECKING:
    from classroom.collect.submissions import Collection
    from classroom.exports.delivery import Systems
    from classroom.grade.grading import Workers
    from classroom.grade.records import Submission

_ASSIGNMENT = "an assignment file (see the guide for teachers), or chapters with all their exercises"


def main(arguments: Sequence[str]) -> int:
    """Run a command and return its exit status.

    0: done. 1: done, but the grader failed on some answers. 2: nothing was done; the message says what to change. 130:
    stopped by Ctrl-C; finished work is kept.
    """
    options = parser().parse_args(arguments)
    try:
        return options.run(options)
    except KeyboardInterrupt:
        print("\nStopped. Run the same command again to continue.", file=sys.stderr)
        return 130
    except Exception as error:
        # Errors of this package say what to do. Any other error is a bug, and its traceback helps to fix it.
        if type(error).__module__.partition(".")[0] != "classroom":
            raise
        print(error, file=sys.stderr)
        return 2


def _release(options: argparse.Namespace) -> int:
    from classroom.handout import release

    out = release.make(_assignment(options), options.out, force=options.force)
    print(f"Hand out {out}.")
    return 0


def _grade(options: argparse.Namespace) -> int:
    """Grade a class.

    Check the command, then this machine, and only then open what students handed in.
    """
    from classroom.grade import grading

    assignment, systems = _checked(options)
    workers = _workers(options)
    try:
        _try_hidden_variants(assignment)
        # Submissions are read on this machine even if a cluster grades them.
        _say_what_is_unprotected(options.trusted)
        submissions = _handed_in(options, assignment, systems)
        _warn_of_others(options.out)
        marks = grading.run(submissions, assignment, options.out, workers, trusted=options.trusted, again=options.again)
    finally:
        workers.stop()
    return _reported(options, assignment, marks, systems)


def _checked(options: argparse.Namespace) -> tuple[Assignment, Systems]:
    """The assignment and the files to fill in. Raise an error if the options make no sense."""
    from classroom.collect.submissions import SubmissionsError

    _check_book(options)
    assignment = _assignment(options)
    if not os.path.exists(options.submissions):  # noqa: PTH110  (Path's own raises where one may not look)
        raise SubmissionsError(f"There is no folder {options.submissions.absolute()} that you can reach.")
    return assignment, _systems(options, assignment)


def _workers(options: argparse.Namespace) -> Workers:
    """The local workers, or a Dask cluster's. Raise an error if strangers can reach the cluster."""
    from classroom.grade import grading

    if options.dask is None:
        return grading.LocalWorkers(options.workers)
    from classroom.grade.distributed import DaskWorkers

    return DaskWorkers(options.dask, trusted=options.trusted)


def _try_hidden_variants(assignment: Assignment) -> None:
    if assignment.hidden:
        from classroom.grade import hidden  # It needs torch.

        print("Trying the hidden variants …", file=sys.stderr, flush=True)
        hidden.read(assignment.hidden)


def _handed_in(options: argparse.Namespace, assignment: Assignment, systems: Systems) -> list[Submission]:
    from classroom.collect import submissions

    print(f"Looking through {options.submissions} …", file=sys.stderr, flush=True)
    receipts_of = systems.moodle[1].receipts_of if systems.moodle else None
    collection = submissions.look(options.submissions, assignment, receipts_of)
    for sentence in _remarks(collection, assignment):
        print(sentence, file=sys.stderr)
    return collection.submissions


def _remarks(collection: Collection, assignment: Assignment) -> list[str]:
    sentences = [f"Skipped {shown(name)}: not a student's folder or notebook." for name in collection.unused[:5]]
    if len(collection.unused) > 5:
        sentences.append(f"Skipped {len(collection.unused) - 5} more.")
    sentences += collection.notes
    if assignment.deadline.rule.costs and collection.untimed:
        sentences.append(
            f"For {collection.untimed} of {len(collection.submissions)} students, there is no record of when they "
            "handed in their work: they lose no points for lateness. See the guide, under Late work."
        )
    return sentences


def _warn_of_others(out: Path) -> None:
    """Warn if other people can read the folder of marks, or if a commit could include it."""
    from classroom.grade import private

    if (ROOT / ".git").exists() and out.resolve().is_relative_to(ROOT.resolve()):
        print(
            f"{out} is inside the book's folder, but marks do not belong in a repository: choose a folder outside "
            "with --out, such as ~/class/marks.",
            file=sys.stderr,
        )
    if out.is_dir() and private.open_to_others(out):
        print(
            f"Other users of this machine can list {out}. They cannot read its files; "
            f"`chmod 700 {shlex.quote(str(out))}` closes the folder too.",
            file=sys.stderr,
        )


def _say_what_is_unprotected(trusted: bool) -> None:
    from classroom.sandbox import Sandbox, SandboxError, protection

    gaps = protection()
    if gaps.refusal and not trusted:
        raise SandboxError("\n".join(gaps.missing))
    if trusted:
        # Reported once here rather than for each student, because some systems cannot limit any submission.
        Sandbox(trusted=True).close()
        print("--trusted: submissions run with your rights. Only their time and memory are limited.")
    elif gaps.missing:
        print("Not protected on this machine:", *gaps.missing, sep="\n- ")


def _report(options: argparse.Namespace) -> int:
    from classroom.grade import gradebook

    _check_book(options)
    assignment, marks = gradebook.last(options.out)
    systems = _systems(options, assignment)
    gradebook.write_table(options.out / gradebook.TABLE, marks)
    return _reported(options, assignment, marks, systems)


def _systems(options: argparse.Namespace, assignment: Assignment) -> Systems:
    """The learning systems' files, read before grading so that a wrong file is reported early."""
    from classroom.exports.canvas import Gradebook
    from classroom.exports.delivery import Systems
    from classroom.exports.moodle import Worksheet

    moodle = (options.moodle, Worksheet(options.moodle, assignment.deadline.zone)) if options.moodle else None
    title = options.canvas_column or assignment.title
    canvas = (options.canvas, Gradebook(options.canvas, title)) if options.canvas else None
    return Systems(moodle, canvas)


def _check_book(options: argparse.Namespace) -> None:
    from classroom.reports.wording import checked_address

    try:
        checked_address(options.book)
    except ValueError as problem:
        raise AssignmentError(f"--book: {problem}") from None


def _reported(options: argparse.Namespace, assignment: Assignment, marks: Sequence, systems: Systems) -> int:
    from classroom import reports
    from classroom.exports.delivery import deliver
    from classroom.grade import gradebook

    print(reports.write(options.out, assignment, marks, book=options.book))
    print(
        f"Marks: {options.out / 'grades.csv'}. Class: {options.out / 'class.html'}. Students: {options.out}/students."
    )
    for sentence in deliver(options.out, assignment, gradebook.participants(options.out), marks, systems):
        print(sentence)
    failed = sum(mark.status == "error" for mark in marks)
    if failed:
        print(f"The grader failed on {failed} answers: run the same command again to grade them.", file=sys.stderr)
    return 1 if failed else 0


def _nbgrader(options: argparse.Namespace) -> int:
    from classroom.exports import nbgrader

    source = nbgrader.write(_assignment(options), options.out, force=options.force)
    print(f"Wrote {source}, for you, and {nbgrader.make_release(source)}, for the students.")
    return 0


def _assignment(options: argparse.Namespace) -> Assignment:
    if options.assignment:
        return load(options.assignment)
    try:
        return of_chapters(options.chapters)
    except AssignmentError as problem:
        raise AssignmentError(f"--chapters: {problem}") from None


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m classroom", description="Hand out, grade and report on exercises from the book."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    release = _command(commands, "release", _release, "make the zip that students get", needs_assignment=True)
    release.add_argument("--out", type=Path, required=True, metavar="ZIP", help="the zip to write")
    release.add_argument("--force", action="store_true", help="replace it if it exists")

    grade = _command(commands, "grade", _grade, "grade a folder of submissions", needs_assignment=True, more=_GRADE)
    grade.add_argument(
        "submissions",
        type=Path,
        metavar="SUBMISSIONS",
        help="the folder that holds one folder or notebook for each student, or the zip from your learning system",
    )
    _add_out(grade, "the folder for marks and reports; marks that are already there are kept")
    grade.add_argument("--workers", type=_count, default=0, metavar="N", help="processes (default: one per processor)")
    grade.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="grade on a Dask cluster: tcp://127.0.0.1:8786, or tls://HOST:8786 with the certificates in its settings",
    )
    grade.add_argument(
        "--trusted",
        action="store_true",
        help="run the students' code without the sandbox, with your rights: for code that you have read",
    )
    grade.add_argument("--again", action="store_true", help="grade everything again")

    report = _command(commands, "report", _report, "write the reports again from the marks, without grading")
    report.add_argument("out", type=Path, metavar="MARKS", help="the folder that `grade` wrote with --out")
    _add_reports(report)

    export = commands.add_parser("export", help="write an assignment for nbgrader")
    systems = export.add_subparsers(required=True, metavar="SYSTEM")
    system = _command(
        systems, "nbgrader", _nbgrader, "a course folder with a source and a release version", needs_assignment=True
    )
    system.add_argument("--out", type=Path, required=True, help="where to write it")
    system.add_argument("--force", action="store_true", help="replace it if it exists")
    return parser


_BOOK = "the address of the rendered book, for links in reports: https://… or a path relative to class.html"
_GRADE = (
    "A file's name shows which student it belongs to; its name or its content shows which exercises it contains. If "
    "there are several versions, the last one in which an exercise was begun counts, unless the assignment says "
    "otherwise. Each mark is saved at once. To continue a run that was stopped, run the same command again: only what "
    "changed is graded again. grades.csv has a row for each student and exercise, and totals.csv has a row for each "
    "student."
)


def _command(
    commands, name: str, run, what: str, *, needs_assignment: bool = False, more: str = ""
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}. {more}".strip())
    command.set_defaults(run=run)
    if needs_assignment:
        group = command.add_argument_group("the assignment", _ASSIGNMENT).add_mutually_exclusive_group(required=True)
        group.add_argument("--assignment", type=Path, metavar="FILE.toml", help="the assignment file")
        group.add_argument("--chapters", nargs="+", metavar="NN", help="chapters by number or name: 02 03")
    return command


def _add_out(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument("--out", type=Path, required=True, metavar="FOLDER", help=what)
    _add_reports(command)


def _add_reports(command: argparse.ArgumentParser) -> None:
    command.add_argument("--book", default="", metavar="ADDRESS", help=_BOOK)
    systems = command.add_argument_group("learning systems", "files to fill in, as the system gives them")
    systems.add_argument("--moodle", type=Path, metavar="WORKSHEET.csv", help="Moodle's grading worksheet")
    systems.add_argument("--canvas", type=Path, metavar="GRADEBOOK.csv", help="Canvas's gradebook, exported")
    systems.add_argument(
        "--canvas-column", default="", metavar="TITLE", help="the assignment on Canvas (default: the title in the file)"
    )


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError("give a number from 1 to 1000")
    return int(text)


if __name__ == "__main__":
    # Report a wrong command before installing anything.
    options = parser().parse_args()
    for_all = options.run is _nbgrader or getattr(options, "dask", None) is not None
    need = EVERYTHING if for_all else NOTEBOOKS
    status = run_module(need, "classroom", sys.argv[1:])
    sys.exit(main(sys.argv[1:]) if status is None else status)
