"""Which pass breaks a module, or which change of one pass: found by halving.

torch does the same for what is inside ``torch.compile``, by environment variables
(``python -m torch._inductor.compiler_bisector``). For passes of one's own it has nothing.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from torch import fx

from fxbook.passes.trial import Pass, returned_module

Ok = Callable[[fx.GraphModule], Any]


@dataclasses.dataclass(frozen=True)
class Culprit:
    """What breaks a module.

    Attributes:
        index: the place of the pass in the list, from 0; of a change, its number, from 1.
        name: the pass, or the change.
        before: the module with all before it, which is right.
        after: the module with it, which is not; ``diff(before, after)`` shows what it did.
    """

    index: int
    name: str
    before: fx.GraphModule
    after: fx.GraphModule

    def __repr__(self) -> str:
        return f"<{self.name} breaks the module>"


def bisect(module: fx.GraphModule, passes: Sequence[Pass], ok: Ok) -> Culprit | None:
    """The first pass after which a module is wrong.

    ``n`` passes need about ``log2(n)`` questions. A module that is wrong has to stay wrong: if a later pass repairs
    what an earlier one breaks, one that breaks is found, not the first.

    Args:
        module: what the passes begin with; it stays as it is.
        passes: in their order; each gets what the one before it returned.
        ok: whether a module is right; if it raises, the module is not. It gets a copy.

    Returns:
        The culprit; ``None`` if the module is right after all of them.

    Raises:
        ValueError: the module is wrong before any pass.

    Example:
        >>> import torch
        >>> from fxbook import bisect
        >>> def fine(module):
        ...     return None
        >>> def breaks(module):
        ...     for node in module.graph.find_nodes(op="call_function", target=torch.relu):
        ...         node.target = torch.tanh
        ...     module.recompile()
        >>> module, x = torch.fx.symbolic_trace(lambda x: torch.relu(x)), torch.ones(2)
        >>> bisect(module, [fine, fine, breaks, fine], lambda module: torch.equal(module(x), torch.relu(x)))
        <passes[2], breaks, breaks the module>
    """

    def after(count: int) -> fx.GraphModule:
        made = copy.deepcopy(module)
        for run in passes[:count]:
            made = returned_module(run(made), made)
        return made

    def named(count: int) -> str:
        run = passes[count - 1]
        return f"passes[{count - 1}], {getattr(run, '__name__', type(run).__name__)},"

    count = _first_wrong(after, ok, len(passes))
    return None if count is None else Culprit(count - 1, named(count), after(count - 1), after(count))


def bisect_changes(module: fx.GraphModule, run: Callable[..., Any], ok: Ok, most: int = 1024) -> Culprit | None:
    """The first change of one pass after which a module is wrong.

    Args:
        module: what the pass gets; it stays as it is.
        run: the pass, called as ``run(module, at_most=n)``; it makes its first ``n`` changes and no more.
        ok: whether a module is right; if it raises, the module is not. It gets a copy.
        most: how many changes are asked for at most.

    Returns:
        The culprit; ``None`` if the module is right after ``most`` changes.

    Raises:
        ValueError: the module is wrong before any change.

    Example:
        >>> import torch
        >>> from fxbook import bisect_changes
        >>> def to_relu(module, at_most):
        ...     for node in module.graph.find_nodes(op="call_method", target="clamp")[:at_most]:
        ...         node.target, node.args = "relu", node.args[:1]
        ...     module.recompile()
        >>> module = torch.fx.symbolic_trace(lambda x: x.clamp(0).clamp(0) + x.clamp(-1))
        >>> x = torch.tensor([-2.0, 1.0])
        >>> bisect_changes(module, to_relu, lambda module: module(x)[0] == -1)
        <change 3 breaks the module>
    """

    def after(count: int) -> fx.GraphModule:
        made = copy.deepcopy(module)
        return returned_module(run(made, at_most=count), made)

    count = _first_wrong(after, ok, most)
    return None if count is None else Culprit(count, f"change {count}", after(count - 1), after(count))


def _first_wrong(after: Callable[[int], fx.GraphModule], ok: Ok, most: int) -> int | None:
    """A number of steps after which a module is wrong, and with one step fewer right."""

    def right(count: int) -> bool:
        made = after(count)
        try:
            return bool(ok(made))
        except Exception:
            return False

    if not right(0):
        raise ValueError("the module is wrong before anything is done to it: look at what it was made from, or at ok")
    if right(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        if right(middle):
            low = middle
        else:
            high = middle
    return high
