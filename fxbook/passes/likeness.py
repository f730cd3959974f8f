"""Compare two results of a module, and find the first difference."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, fx

from fxbook.graph.stored import dense_of
from fxbook.passes.calling import ordered
from fxbook.passes.layout import laid_otherwise
from fxbook.passes.outcome import Outcome, detached, kept


def difference(
    before: Any, after: Any, where: str, rtol: float | None, atol: float | None, skipped: list[str] | None = None
) -> str | None:
    """The first difference, as a sentence without its full stop, or ``None``.

    Objects are compared with the ``==`` of their class if it works, otherwise by their attributes. The default
    tolerances are those of ``torch.testing.assert_close``. The name of each part that cannot be compared is appended to
    ``skipped``.
    """
    limits = {} if rtol is None and atol is None else {"rtol": rtol or 0.0, "atol": atol or 0.0}
    return _Comparison(limits, [] if skipped is None else skipped, set()).of(before, after, where)


class _Comparison(NamedTuple):
    """The tolerances, the parts that could not be compared, and the pairs of objects that are being compared."""

    limits: dict[str, float]
    skipped: list[str]
    met: set[tuple[int, int]]

    def of(self, before: Any, after: Any, where: str) -> str | None:
        if isinstance(before, Tensor) and isinstance(after, Tensor):
            return self._of_tensors(before, after, where)
        if type(before) is not type(after):
            return f"{where} is of type {type(after).__name__} instead of {type(before).__name__}"
        if isinstance(before, dict):
            if list(before) != list(after):
                return f"{where} has the keys {list(after)} instead of {list(before)}"
            return self._first((f"{where}[{key!r}]", before[key], after[key]) for key in before)
        if isinstance(before, list | tuple):
            if len(before) != len(after):
                return f"{where} has {len(after)} parts instead of {len(before)}"
            return self._first((f"{where}[{i}]", *parts) for i, parts in enumerate(zip(before, after, strict=True)))
        return self._of_objects(before, after, where)

    def _first(self, pairs: Iterable[tuple[str, Any, Any]]) -> str | None:
        return next(filter(None, (self.of(old, new, name) for name, old, new in pairs)), None)

    def _of_objects(self, before: Any, after: Any, where: str) -> str | None:
        if before is after or (id(before), id(after)) in self.met:
            return None
        self.met.add((id(before), id(after)))
        old, new = _attributes(before), _attributes(after)
        # The `==` of a dataclass compares tensors, and raises.
        if type(before).__eq__ is not object.__eq__ and not dataclasses.is_dataclass(before):
            with contextlib.suppress(Exception):
                same = before == after
                if isinstance(same, bool):
                    same = same or bool(before != before and after != after)
                    return None if same else f"{where} is {after!r} instead of {before!r}"
        if not old and not new:
            self.skipped.append(where)
            return None
        if old.keys() != new.keys():
            return f"{where} has the attributes {sorted(new)} instead of {sorted(old)}"
        return self._first((f"{where}.{name}", held, new[name]) for name, held in old.items())

    def _of_tensors(self, before: Tensor, after: Tensor, where: str) -> str | None:
        if before.is_nested and after.is_nested:
            return self.of(list(before.unbind()), list(after.unbind()), where)
        for what in ("shape", "dtype", "device", "layout"):
            old, new = getattr(before, what), getattr(after, what)
            if old != new:
                told = (tuple(new), tuple(old)) if what == "shape" else (new, old)
                return f"{where} has the {what} {told[0]} instead of {told[1]}"
        if before.is_meta:
            self.skipped.append(where)
            return None
        before, after = dense_of(before), dense_of(after)
        if torch.equal(before, after):
            return None
        try:
            torch.testing.assert_close(after, before, equal_nan=True, **self.limits)
        except AssertionError:
            return f"{where} has different numbers: {_farthest(before, after)}"
        return None


def _farthest(before: Tensor, after: Tensor) -> str:
    exact = torch.complex128 if before.is_complex() else torch.float64
    old, new = before.to(exact), after.to(exact)
    apart = (new - old).abs().nan_to_num(nan=torch.inf)
    # Equal infinities do not differ, and nor do two nans.
    apart[(old == new) | (old.isnan() & new.isnan())] = 0
    at = tuple(int(i) for i in torch.unravel_index(apart.argmax(), apart.shape))
    place = f" at {list(at)}" if at else ""
    differing = int((apart > 0).sum())
    now, was = (f"{one[at].item():.6g}" for one in (after, before))
    if now == was:
        now = f"{after[at].item():.12g}"
        was = f"{before[at].item():.12g}, which rtol and atol may allow"
    return f"{now}{place} instead of {was} ({differing} of {apart.numel()} differ)"


def _attributes(value: Any) -> dict[str, Any]:
    slots = [name for kind in type(value).__mro__ for name in _listed(vars(kind).get("__slots__", ()))]
    return {
        name: getattr(value, name) for name in slots if not name.startswith("__") and hasattr(value, name)
    } | getattr(value, "__dict__", {})


def _listed(slots: str | Iterable[str]) -> Iterable[str]:
    return (slots,) if isinstance(slots, str) else slots


def of_outcomes(
    before: Outcome,
    after: Outcome,
    rtol: float | None,
    atol: float | None,
    skipped: list[str] | None = None,
    *,
    layout: bool = True,
) -> str | None:
    """The first difference between two runs: in the result, or in the inputs or the shared weights after the run.

    The name of each part of the result that cannot be compared is appended to ``skipped``; ``layout`` says whether the
    memory layout of results counts.
    """
    if before.error is not None:
        # If the run failed before the pass, there are no values to preserve.
        return None
    if after.error is not None:
        said = str(after.error).strip().split("\n")[0][:200]
        return f"the module raises {type(after.error).__name__}: {said}"
    written = [name for name in before.state if name in after.state and name in before.written | after.written]
    pairs = [
        *(
            (f"input {i}, once the module has run,", *pair)
            for i, pair in enumerate(zip(before.inputs, after.inputs, strict=True))
        ),
        *(
            (f"the buffer `{name}`, once the module has run,", before.state[name], after.state[name])
            for name in written
        ),
    ]
    if said := difference(before.result, after.result, "the result", rtol, atol, skipped):
        return said
    found = (difference(old, new, where, rtol, atol) for where, old, new in pairs)
    said = next(filter(None, found), None)
    return said or (laid_otherwise(before.layout, after.layout) if layout else None)


def first_node(
    before: fx.GraphModule, after: fx.GraphModule, inputs: Sequence[Any], rtol: float | None, atol: float | None
) -> str:
    """A clause that names the first node that both modules have but whose values differ, or ``""``."""
    try:
        old, new = values_of(before, inputs), values_of(after, inputs)
    except Exception:
        return ""
    for name, value in new.items():
        if name in old and difference(old[name], value, name, rtol, atol):
            return f"; the first node with a different value is `{name}`"
    return ""


def values_of(module: fx.GraphModule, inputs: Sequence[Any]) -> dict[str, Any]:
    """The value of each node, copied right after the node has run."""
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
