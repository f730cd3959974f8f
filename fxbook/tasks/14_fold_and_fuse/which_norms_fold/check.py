"""Find the norms that can be folded: all of them, and no other node."""

from __future__ import annotations

import operator

import torch
from torch import fx

from fxbook.cases import Check
from fxbook.rules.returned import instead_of, names_of, repeated_name
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

_aten = torch.ops.aten
_LAYERS = (_aten.conv1d.default, _aten.conv2d.default, _aten.linear.default)


def reason_to_stay(module: fx.GraphModule, norm: fx.Node) -> str | None:
    """Why a norm cannot be folded; ``None`` if it can."""
    layer = norm.args[0]
    if norm.args[5]:
        return "its argument `training` is True"
    if layer.target not in _LAYERS:
        return f"its input, `{layer.name}`, calls none of the three operators"
    if other := next((user for user in layer.users if user is not norm), None):
        return f"`{other.name}` uses `{layer.name}` too"
    weight = operator.attrgetter(layer.args[1].target)(module)
    if layer.meta["val"].ndim != weight.ndim:
        return f"`{layer.name}` has {layer.meta['val'].ndim} dimensions, but its weight has {weight.ndim}"
    return None


@rule
def finds_the_norms(case: CaseView) -> Found:
    """The answer contains all norms that can be folded, and no other node."""
    names = names_of(case.value)
    if names is None:
        yield None, instead_of("a list of node names", case.value)
        return
    [module] = case.arguments
    norms = module.graph.find_nodes(op="call_function", target=_aten.batch_norm.default)
    for name in sorted(names - {norm.name for norm in norms}):
        yield None, f"`{name}` is in the answer but does not call `aten.batch_norm.default`."
    for norm in norms:
        why = reason_to_stay(module, norm)
        if why and norm.name in names:
            yield case.before.named(norm.name), f"is in the answer but cannot be folded: {why}"
        if not why and norm.name not in names:
            yield case.before.named(norm.name), "can be folded but is missing from the answer"
    if twice := repeated_name(case.value):
        yield case.before.named(twice), "is in the answer more than once"


CHECK = Check((finds_the_norms,))
