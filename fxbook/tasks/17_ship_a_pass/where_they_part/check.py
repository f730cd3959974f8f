"""Find the first node at which two modules compute different values."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from fxbook.cases import Check
from fxbook.rules.returned import instead_of, name_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import given_left_alone, observed


class _Keeping(fx.Interpreter):
    """An Interpreter that keeps a copy of each node's value, made before a later node can write into the value."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.values: dict[str, Any] = {}
        self.at_the_end: dict[str, Any] = {}

    def run_node(self, n: fx.Node) -> Any:
        value = self.at_the_end[n.name] = super().run_node(n)
        self.values[n.name] = pytree.tree_map_only(torch.Tensor, torch.clone, value)
        return value


def run_of(module: fx.GraphModule, inputs: tuple[torch.Tensor, ...]) -> _Keeping:
    """An Interpreter that has run the module, with the value of each node by name, in graph order."""
    keeping = _Keeping(module)
    with torch.no_grad():
        keeping.run(*inputs)
    return keeping


def is_close(one: Any, other: Any, *, of_any_dtype: bool = False) -> bool:
    """Whether two values are equal except for rounding."""
    try:
        torch.testing.assert_close(one, other, check_dtype=not of_any_dtype)
    except (AssertionError, TypeError, ValueError):
        return False
    return True


@rule
def first_that_differs(case: CaseView) -> Found:
    """The answer is the name of the first node whose value differs."""
    before, after, *inputs = case.arguments
    run = run_of(before, tuple(inputs))
    here, there = run.values, run_of(after, tuple(inputs)).values
    differ = [name for name in here if name in there and not is_close(here[name], there[name])]
    answer = observed(case, "returned")
    name = name_of(answer)
    if answer is None:
        if differ:
            of_dtype = " (only the dtype differs)" * is_close(here[differ[0]], there[differ[0]], of_any_dtype=True)
            yield case.before.named(differ[0]), f"has a different value in `after`{of_dtype}, but the answer is `None`"
    elif name is None:
        yield None, instead_of("the name of a node, or `None`", answer)
    elif name not in here:
        yield None, f"`{name}` is not a node of `before`."
    elif name not in there:
        yield None, f"`{name}` is not a node of `after`: skip it."
    elif name not in differ:
        written = not is_close(here[name], run.at_the_end[name])
        but = "until a later node writes into it: compare copies of the values" if written else "except for rounding"
        yield case.before.named(name), f"has the same value in both graphs, {but}"
    elif name != differ[0]:
        yield case.before.named(differ[0]), f"also has a different value, and comes before `{name}`"


CHECK = Check((given_left_alone, first_that_differs))
