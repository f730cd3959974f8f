"""How an exercise's ``answers.py`` says which answers are right and which are wrong, and why.

Each function in it (or class, or object given to the decorator) is an answer, named after what it does or the mistake
that it makes::

    @right
    def moves_readers_behind(graph_module): ...


    @breaks("in an order in which it runs", case="two branches")
    @wrong("lints", node="relu", says="uses `up` before it is defined", read="02_insertion_points#two-nodes-one-anchor")
    def reverses_the_whole_list(graph_module): ...

Only the tests and the book's own pages read these files; no learner gets them.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from fxbook import tasks

Answer = TypeVar("Answer")
# By the module in which they are written, since any module may import an answer.
_collected: dict[str, list[KnownAnswer]] = collections.defaultdict(list)


@dataclasses.dataclass(frozen=True)
class KnownAnswer:
    """An answer, and the report that belongs to it.

    Args:
        name: the correct way, or the mistake.
        answer: what is passed to ``check``.
        violated: the name of the rule that the report must name; ``""`` for a right answer.
        says: a part of the report's message.
        node: the node that the report must mark, or ``None`` if the mistake has none.
        read: ``"chapter#anchor"`` that the report must point to, or ``None`` for the exercise's own.
        case: the name of the case in which it is rejected, or ``None`` if that is not given.
        clauses: the words of the task, or of the stub's docstring, that it breaks.
    """

    name: str
    answer: Any
    violated: str = ""
    says: str = ""
    node: str | None = None
    read: str | None = None
    case: str | None = None
    clauses: tuple[str, ...] = ()


def right(answer: Answer) -> Answer:
    """The answer must pass."""
    _collected[_module_above()].append(KnownAnswer(_name(answer), answer))
    return answer


def wrong(violated: str, *, says: str, node: str | None = None, read: str | None = None) -> Callable[[Answer], Answer]:
    """The answer must fail, with this report."""

    def collect(answer: Answer) -> Answer:
        _collected[_module_above()].append(KnownAnswer(_name(answer), answer, violated, says, node, read))
        return answer

    return collect


def breaks(*clauses: str, case: str) -> Callable[[Answer], Answer]:
    """Used above :func:`wrong`: the answer breaks these words of the task, and always fails in this case."""

    def add(answer: Answer) -> Answer:
        collected = _collected[_module_above()]
        if not collected or collected[-1].answer is not answer:
            raise TypeError(f"write @breaks above the @wrong of {_name(answer)}")
        collected[-1] = dataclasses.replace(collected[-1], case=case, clauses=clauses)
        return answer

    return add


def _module_above() -> str:
    """The name of the module that called this function's caller."""
    return str(sys._getframe(2).f_globals["__name__"])


def _name(answer: Any) -> str:
    return str(getattr(answer, "__name__", type(answer).__name__))


@functools.cache
def answers_to(exercise_id: str) -> tuple[KnownAnswer, ...]:
    """The answers in an exercise's folder, in order; none if there is no such file."""
    folder = tasks.folder_of(exercise_id)
    if not (folder / "answers.py").exists():
        return ()
    module = f"{tasks.__name__}.{folder.parent.name}.{folder.name}.answers"
    importlib.import_module(module)
    return tuple(_collected[module])
