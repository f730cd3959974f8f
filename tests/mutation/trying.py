"""Run the check of an exercise on a mutant."""

from __future__ import annotations

import dataclasses
import linecache
import multiprocessing
import sys
import warnings
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from fxbook import tasks
from fxbook.checking.verify import check_with
from tests.checking.exercise_for_tests import changed
from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.programs import MODULE, Program, answer_of

SEED = 1
_FILE = f"<{MODULE}>"
# A mutant may hang; a solution needs less time than this.
_SECONDS = 5.0


@dataclasses.dataclass(frozen=True)
class Trial:
    """A mutant, and the rule that rejected it, or the error that its definition raised; ``""`` if it passed."""

    mutant: Mutant
    refused_by: str


def trials(program: Program) -> Iterator[Trial]:
    """Try the mutants of a program in a separate process, which discards what their source registers.

    Raises:
        ValueError: the unmodified program does not pass, so rejected mutants would prove nothing.
    """
    context = multiprocessing.get_context("fork")
    mutants = list(mutants_of(program))
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_try_all, args=(program, mutants, sending))
    process.start()
    sending.close()
    try:
        if refused_by := _received(receiving, process, program):
            raise ValueError(f"{program.exercise}: the solution does not pass ({refused_by})\n{program.source()}")
        for mutant in mutants:
            yield Trial(mutant, _received(receiving, process, program))
    finally:
        receiving.close()
        process.join()


def _received(receiving: Connection, process: BaseProcess, program: Program) -> str:
    try:
        return receiving.recv()
    except EOFError:
        process.join()
        raise RuntimeError(
            f"{program.exercise}: a mutant ended the process that tries it ({process.exitcode})"
        ) from None


def _try_all(program: Program, mutants: Sequence[Mutant], sending: Connection) -> None:
    warnings.simplefilter("ignore")
    for source in (program.source(), *(mutant.source() for mutant in mutants)):
        sending.send(_refused_by(program, source))


def _refused_by(program: Program, source: str) -> str:
    # As in a notebook, the source of a function must be available.
    linecache.cache[_FILE] = (len(source), None, source.splitlines(keepends=True), _FILE)
    exercise = tasks.find(program.exercise)
    assert exercise
    try:
        answer = answer_of(source, program.answer)
    except Exception as error:  # The mutant cannot even be defined.
        return type(error).__name__
    report = check_with(changed(exercise, seconds=_SECONDS), answer, seed=SEED)
    sys.modules.pop(MODULE, None)
    return "" if report.passed else str(report.violated)
