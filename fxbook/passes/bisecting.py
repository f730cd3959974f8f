"""Find the pass that breaks a module, or the change within a pass, by bisection.

torch has a bisector for the passes inside ``torch.compile`` (``python -m torch._inductor.compiler_bisector``), but none
for a user's own passes.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from torch import fx

from fxbook.drawing.lettering import clean
from fxbook.graph.record import not_traced
from fxbook.passes.pass_run import Pass, returned_module

Ok = Callable[[fx.GraphModule], Any]


@dataclasses.dataclass(frozen=True)
class Culprit:
    """The pass, or the change, that breaks a module.

    Attributes:
        index: the position of the pass in the list, from 0, or the number of the change, from 1.
        name: the pass, or the change.
        before: the module before it, which is right.
        after: the module after it, which is wrong, or ``None`` if it raises; ``diff(before, after)`` shows what it did.
        error: the error that it raises on the module ``before``; ``None`` if it returns.
    """

    index: int
    name: str
    before: fx.GraphModule
    after: fx.GraphModule | None
    error: Exception | None = None

    def __repr__(self) -> str:
        if self.error is None:
            return f"<{self.name} breaks the module>"
        return f"<{self.name} raises {type(self.error).__name__}: {clean(self.error, 200)}>"


def bisect(module: fx.GraphModule, passes: Sequence[Pass], ok: Ok) -> Culprit | None:
    """Find the first pass after which a module is wrong.

    ``n`` passes need about ``log2(n)`` calls to ``ok``. The search assumes that a wrong module stays wrong. If a later
    pass repairs what an earlier one broke, the result is a pass that breaks the module, but perhaps not the first one.

    Args:
        module: the module before any pass; it is not changed.
        passes: the passes, in order; each gets what the previous one returned.
        ok: returns whether a module is right; an error counts as no. It gets a copy.

    Returns:
        The culprit, which may be a pass that raises an error, or ``None`` if the module is right after all passes.

    Raises:
        TypeError: ``module`` is not a ``GraphModule``; the message says what to pass.
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

    found = _first_wrong(module, after, ok, len(passes))
    return found and dataclasses.replace(found, index=found.index - 1, name=named(found.index))


def bisect_changes(module: fx.GraphModule, run: Callable[..., Any], ok: Ok, most: int = 1024) -> Culprit | None:
    """Find the first change within one pass after which a module is wrong.

    Args:
        module: the module before the pass; it is not changed.
        run: the pass, called as ``run(module, at_most=n)``; it must stop after its first ``n`` changes.
        ok: returns whether a module is right; an error counts as no. It gets a copy.
        most: the largest ``n`` to try.

    Returns:
        The culprit, which may be a change that raises an error, or ``None`` if the module is right after ``most``
        changes.

    Raises:
        TypeError: ``module`` is not a ``GraphModule``; the message says what to pass.
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

    return _first_wrong(module, after, ok, most)


def _first_wrong(module: fx.GraphModule, after: Callable[[int], fx.GraphModule], ok: Ok, most: int) -> Culprit | None:
    if not isinstance(module, fx.GraphModule):
        raise not_traced(module)
    try:
        right, why = bool(ok(after(0))), None
    except Exception as error:
        right, why = False, error
    if not right:
        raise ValueError(
            "the module is wrong before anything is done to it"
            + (f": {type(why).__name__}: {clean(why, 200)}" if why else "")
            + "; look at what it was made from, or at ok"
        ) from why

    def is_right(count: int) -> bool:
        try:
            return bool(ok(after(count)))
        except Exception:
            return False

    if is_right(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        if is_right(middle):
            low = middle
        else:
            high = middle
    try:
        made, raised = after(high), None
    except Exception as error:
        made, raised = None, error
    return Culprit(high, f"change {high}", after(low), made, raised)
