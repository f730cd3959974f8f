"""A mutant put before the check of its exercise, under several seeds."""

from __future__ import annotations

import dataclasses
import linecache
import multiprocessing
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection

from fxbook import tasks
from fxbook.checking.verify import check_with
from tests.mutation.mutants import Mutant
from tests.mutation.programs import MODULE, Program, answer_of

SEEDS = (1, 2, 3)
OUT_OF_TIME = "still running when the time was over"
_FILE = f"<{MODULE}>"


@dataclasses.dataclass(frozen=True)
class Trial:
    """What became of a mutant: the seeds with which it passed, of those tried; the rule that refused it, if any did."""

    mutant: Mutant
    passed: tuple[int, ...]
    refused_by: str

    @property
    def survived(self) -> bool:
        """A mutant is refused only if every seed refuses it."""
        return bool(self.passed)


def trials(mutants: Iterable[Mutant], seeds: Sequence[int] = SEEDS) -> Iterator[Trial]:
    """Try mutants, those of each answer in a process of their own: what running their source registers ends with it.

    Raises:
        ValueError: if an answer does not pass before it is made wrong.
    """
    context = multiprocessing.get_context("fork")
    by_program: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        by_program.setdefault(mutant.program.name, []).append(mutant)
    for of_one in by_program.values():
        receiving, sending = context.Pipe(duplex=False)
        process = context.Process(target=_try_all, args=(of_one, seeds, sending))
        process.start()
        sending.close()
        try:
            _refuse_a_wrong_parent(of_one[0].program, *receiving.recv())
            for mutant in of_one:
                yield Trial(mutant, *receiving.recv())
        finally:
            receiving.close()
            process.join()


def _refuse_a_wrong_parent(program: Program, passed: Sequence[int], refused_by: str) -> None:
    """What does not pass whole is refused in each of its mutants: that would say nothing of the check."""
    if not passed:
        raise ValueError(f"{program.exercise}: {program.name} itself does not pass ({refused_by})\n{program.source()}")


def _try_all(mutants: Sequence[Mutant], seeds: Sequence[int], sending: Connection) -> None:
    warnings.simplefilter("ignore")
    program = mutants[0].program
    sending.send(_tried(program, program.source(), seeds[:1]))
    for mutant in mutants:
        sending.send(_tried(program, mutant.source(), seeds))


def _tried(program: Program, source: str, seeds: Sequence[int]) -> tuple[tuple[int, ...], str]:
    # As in a notebook: whoever asks for the source of a function gets it.
    linecache.cache[_FILE] = (len(source), None, source.splitlines(keepends=True), _FILE)
    exercise = tasks.find(program.exercise)
    assert exercise
    passed, refused_by = [], ""
    for seed in seeds:
        try:
            answer = answer_of(source, program.answer)
        except Exception as error:  # It cannot even be defined.
            return (), type(error).__name__
        report = check_with(exercise, answer, seed=seed)
        if OUT_OF_TIME in report.message:  # A busy machine does the same.
            report = check_with(exercise, answer, seed=seed)
        if report.passed:
            passed.append(seed)
        else:
            rule = "time" if OUT_OF_TIME in report.message else report.violated
            refused_by = refused_by or rule or ""
    sys.modules.pop(MODULE, None)
    return tuple(passed), refused_by
