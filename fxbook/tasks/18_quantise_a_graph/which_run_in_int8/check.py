"""Find the calls that can run in int8: all of them, and no other node."""

from __future__ import annotations

from torch import fx

from fxbook.cases import Check
from fxbook.rules.returned import instead_of, names_of, repeated_name
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import DEQUANTIZE, LINEAR, PER_CHANNEL, QUANTIZE


@rule
def finds_the_calls(case: CaseView) -> Found:
    """The answer contains all calls that can run in int8, and no other node."""
    names = names_of(case.value)
    if names is None:
        yield None, instead_of("a list of node names", case.value)
        return
    [module] = case.arguments
    nodes = {node.name: node for node in module.graph.nodes}
    for name in sorted(names - nodes.keys()):
        yield None, f"`{name}` is in the answer, but no node has this name."
    for name, node in nodes.items():
        why = _why_float(node)
        if why and name in names:
            yield case.before.named(name), f"is in the answer, but cannot run in int8: {why}"
        if not why and name not in names:
            yield case.before.named(name), "can run in int8, but is missing from the answer"
    if twice := repeated_name(case.value):
        yield case.before.named(twice), "is in the answer more than once"


def _why_float(node: fx.Node) -> str | None:
    """Why a call cannot run in int8; ``None`` if it can."""
    dequantize = (DEQUANTIZE, PER_CHANNEL)
    if node.op != "call_function" or node.target in (QUANTIZE, *dequantize):
        return "it is not a call to another operator"
    bias = node.args[2] if node.target is LINEAR and len(node.args) > 2 else None
    values = [read for read in node.all_input_nodes if read is not bias]
    if not values:
        return "it reads no call to `dequantize`"
    if other := next((read for read in values if read.target not in dequantize), None):
        return f"it reads `{other.name}`, which is not a call to `dequantize` or `dequantize_per_channel`"
    if not node.users:
        return "it has no users"
    if other := next((user for user in node.users if user.target is not QUANTIZE), None):
        return f"its user `{other.name}` is not a call to `quantize`"
    return None


CHECK = Check((finds_the_calls,))
