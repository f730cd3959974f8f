"""Find the concatenations that can copy int8: all of them and no other nodes, in graph order."""

from __future__ import annotations

from torch import fx

from fxbook.cases import Check
from fxbook.rules.returned import instead_of, list_of_names
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import CAT, DEQUANTIZE, QUANTIZE


@rule
def finds_the_cats(case: CaseView) -> Found:
    """The answer contains all concatenations that can copy int8, and no other node."""
    names = list_of_names(case.value)
    if names is None:
        yield None, instead_of("a list of node names", case.value)
        return
    [module] = case.arguments
    nodes = {node.name: node for node in module.graph.nodes}
    for name in sorted(set(names) - nodes.keys()):
        yield None, f"`{name}` is in the answer, but no node has this name."
    for name, node in nodes.items():
        why = _why_not(node)
        if why and name in names:
            yield case.before.named(name), f"is in the answer, but cannot copy int8: {why}"
        if not why and name not in names:
            yield case.before.named(name), "can copy int8, but is missing from the answer"


@rule
def keeps_their_order(case: CaseView) -> Found:
    """The names are in graph order, each once."""
    [module] = case.arguments
    if list_of_names(case.value) != [node.name for node in module.graph.nodes if _why_not(node) is None]:
        yield None, "The names are right, but the list does not have each of them exactly once, in graph order."


def _why_not(node: fx.Node) -> str | None:
    """Why a node is not a concatenation that can copy int8; ``None`` if it is one."""
    if node.op != "call_function" or node.target is not CAT:
        return "it is not a call to `torch.ops.aten.cat.default`"
    tensors, users = list(node.args[0]), list(node.users)
    if other := next((tensor for tensor in tensors if tensor.target is not DEQUANTIZE), None):
        return f"`{other.name}`, in its list, is not a call to `dequantize`"
    if not users:
        return "it has no users"
    if other := next((user for user in users if user.target is not QUANTIZE), None):
        return f"its user `{other.name}` is not a call to `quantize`"
    first, *others = [*tensors, *users]
    for index, what in ((1, "scale"), (2, "zero point"), (3, "lower bound"), (4, "upper bound"), (5, "dtype")):
        if other := next((call for call in others if call.args[index] != first.args[index]), None):
            return f"`{first.name}` and `{other.name}` do not have the same {what}"
    return None


CHECK = Check((finds_the_cats, keeps_their_order))
