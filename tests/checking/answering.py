"""How a file of ``tests/answers/`` says which answers are right and which are wrong, and why.

One file per exercise, named by its id: ``tests/answers/02-put-in-order.py``. Each function in it (or class, or object
given to the decorator) is an answer, named for what it does or for the mistake it makes::

    @right
    def moves_readers_behind(graph_module): ...


    @wrong("lints", node="relu", says="uses `up` before it is defined", read="02_insertion_points#two-nodes-one-anchor")
    def reverses_the_whole_list(graph_module): ...
"""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from press import ROOT

FOLDER = ROOT / "tests" / "answers"
Answer = TypeVar("Answer")
_collected: list[Told] = []


@dataclasses.dataclass(frozen=True)
class Told:
    """An answer, and the report that belongs to it.

    Args:
        name: the right way, or the mistake.
        answer: what is passed to ``check``.
        violated: the name of the property that the report must name; ``""`` for a right answer.
        says: a part of the report's message.
        node: the node that the report must mark, ``None`` where the mistake has none.
        read: ``"chapter#anchor"`` that the report must point to, ``None`` for that of the exercise.
    """

    name: str
    answer: Any
    violated: str = ""
    says: str = ""
    node: str | None = None
    read: str | None = None


def right(answer: Answer) -> Answer:
    """The answer must pass."""
    _collected.append(Told(_name(answer), answer))
    return answer


def wrong(violated: str, *, says: str, node: str | None = None, read: str | None = None) -> Callable[[Answer], Answer]:
    """The answer must fail, with this report."""

    def collect(answer: Answer) -> Answer:
        _collected.append(Told(_name(answer), answer, violated, says, node, read))
        return answer

    return collect


def _name(answer: Any) -> str:
    return str(getattr(answer, "__name__", type(answer).__name__))


def answers_to(exercise_id: str) -> list[Told]:
    """The answers in the file of an exercise, in its order; none where there is no such file."""
    path: Path = FOLDER / f"{exercise_id}.py"
    if not path.exists():
        return []
    _collected.clear()
    specification = importlib.util.spec_from_file_location(f"answers_{exercise_id.replace('-', '_')}", path)
    assert specification and specification.loader
    specification.loader.exec_module(importlib.util.module_from_spec(specification))
    return list(_collected)
