"""List the layers in the order they run."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import names_in, unreadable


@rule
def layers_in_order(case: CaseView) -> Found:
    """The answer lists the targets of the ``call_module`` nodes, in list order."""
    if isinstance(case.value, dict) and "set" in case.value:
        yield None, "The answer is a set, which has no order: return a list."
    yield from unreadable(case.value)
    answer = names_in(case.value)
    expected = [node.target for node in case.before if node.op == "call_module"]
    for place, name in enumerate(answer):
        if name not in expected:
            yield None, _no_layer(case, place, name)
    for name in dict.fromkeys(expected):
        listed, called = answer.count(name), expected.count(name)
        if not listed:
            yield None, f"`{name}` is not in the answer, but the model calls it."
        elif listed != called:
            yield None, f"`{name}` is in the answer {_times(listed)}, but the model calls it {_times(called)}."
    for place, (name, right) in enumerate(zip(answer, expected, strict=False)):
        if name != right:
            yield None, f"Item {place} of the answer is `{name}`: the model calls `{right}` first."


def _no_layer(case: CaseView, place: int, name: str) -> str:
    """What is wrong with an item that does not name a called submodule."""
    modules = dict(case.model.named_modules())
    node = next((node for node in case.before if name in (node.name, node.target)), None)
    if name and name in modules:
        if any(child.startswith(f"{name}.") for child in modules):
            return f"Item {place} of the answer is `{name}`, a container, whose call is not recorded."
        return f"`{name}` is in the answer, but `forward` never calls it."
    if node and node.op == "call_module":
        return f"Item {place} of the answer is `{name}`, the name of the node; the qualified name is its target."
    if node:
        return f"`{name}` is in the answer, but it is the target of a `{node.op}`, not a submodule."
    return f"`{name}` is in the answer, but the model has no submodule of that name."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


CHECK = Check((layers_in_order,))
