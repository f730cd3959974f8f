"""Whether two results of a module are alike, and where they differ first."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, fx

from fxbook.passes.calling import ordered
from fxbook.passes.trial import Outcome, detached, kept


def difference(before: Any, after: Any, where: str, rtol: float | None, atol: float | None) -> str | None:
    """What differs first, as a sentence without its stop; ``None`` where all is alike.

    Args:
        before: tensors, numbers and containers of them.
        after: what is compared with it.
        where: what they are called.
        rtol: relative tolerance; without it that of ``torch.testing.assert_close`` for the dtype.
        atol: absolute tolerance, likewise.
    """
    if isinstance(before, Tensor) and isinstance(after, Tensor):
        return _of_tensors(before, after, where, rtol, atol)
    if type(before) is not type(after):
        return f"{where} is of type {type(after).__name__}, before: {type(before).__name__}"
    if isinstance(before, dict):
        if list(before) != list(after):
            return f"{where} has the keys {list(after)}, before: {list(before)}"
        pairs = [(f"{where}[{key!r}]", before[key], after[key]) for key in before]
    elif isinstance(before, list | tuple):
        if len(before) != len(after):
            return f"{where} has {len(after)} parts, before: {len(before)}"
        pairs = [(f"{where}[{i}]", *parts) for i, parts in enumerate(zip(before, after, strict=True))]
    else:
        return None if _equal(before, after) else f"{where} is {after!r}, before: {before!r}"
    return next(filter(None, (difference(old, new, name, rtol, atol) for name, old, new in pairs)), None)


def _of_tensors(before: Tensor, after: Tensor, where: str, rtol: float | None, atol: float | None) -> str | None:
    for what in ("shape", "dtype", "device", "layout"):
        old, new = getattr(before, what), getattr(after, what)
        if old != new:
            told = (tuple(new), tuple(old)) if what == "shape" else (new, old)
            return f"{where} has the {what} {told[0]}, before: {told[1]}"
    if before.layout != torch.strided or before.is_meta:
        return None
    if torch.equal(before, after):
        return None
    limits = {} if rtol is None and atol is None else {"rtol": rtol or 0.0, "atol": atol or 0.0}
    try:
        torch.testing.assert_close(after, before, equal_nan=True, **limits)
    except AssertionError:
        apart = (after.double() - before.double()).abs().nan_to_num(nan=torch.inf)
        at = tuple(int(i) for i in torch.unravel_index(apart.argmax(), apart.shape))
        old, new = before[at].item(), after[at].item()
        differing = int((apart > 0).sum())
        place = f" at {list(at)}" if at else ""
        return f"{where} has other numbers: {new:.6g}{place}, before: {old:.6g} ({differing} of {apart.numel()} differ)"
    return None


def _equal(before: Any, after: Any) -> bool:
    try:
        return bool(before == after) or (before != before and after != after)
    except Exception:
        return True


def of_outcomes(before: Outcome, after: Outcome, rtol: float | None, atol: float | None) -> str | None:
    """What differs first between two runs: the result, what became of the inputs, or of the weights that both have."""
    if before.error is not None:
        # What could not run has no values to keep.
        return None
    if after.error is not None:
        said = str(after.error).strip().split("\n")[0][:200]
        return f"the module raises {type(after.error).__name__}: {said}"
    written = [name for name in before.state if name in after.state and name in before.written | after.written]
    pairs = [
        ("the result", before.result, after.result),
        *(
            (f"input {i}, once the module has run,", *pair)
            for i, pair in enumerate(zip(before.inputs, after.inputs, strict=True))
        ),
        *(
            (f"the buffer `{name}`, once the module has run,", before.state[name], after.state[name])
            for name in written
        ),
    ]
    return next(filter(None, (difference(old, new, where, rtol, atol) for where, old, new in pairs)), None)


def first_node(
    before: fx.GraphModule, after: fx.GraphModule, inputs: Sequence[Any], rtol: float | None, atol: float | None
) -> str:
    """Of the nodes that both have by name, the first whose value differs, as a clause; nothing where there is none."""
    try:
        old, new = values_of(before, inputs), values_of(after, inputs)
    except Exception:
        return ""
    for name, value in new.items():
        if name in old and difference(old[name], value, name, rtol, atol):
            return f"; the first node with another value is `{name}`"
    return ""


def values_of(module: fx.GraphModule, inputs: Sequence[Any]) -> dict[str, Any]:
    """The value of each node, as it was when the node had run."""
    values: dict[str, Any] = {}

    class Keeping(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            value = super().run_node(n)
            if n.op != "output":
                values[n.name] = detached(value)
            return value

    with kept(module), torch.no_grad():
        Keeping(module).run(*ordered(module, copy.deepcopy(inputs)))
    return values
