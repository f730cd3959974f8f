"""What chapter 03 demands where every ReLU is to become GELU, and where one runs out of sight."""

from __future__ import annotations

from collections import Counter
from typing import Any

from torch import fx, nn

from fxbook.asking.families import RELU
from fxbook.asking.predicates import same_result
from fxbook.asking.rule import Violation
from fxbook.asking.view import CaseView
from fxbook.checks.relu_models_03 import WithRelus
from fxbook.graph.record import NodeRecord

_HERE = "03_replacement"
_READ_LATER = "03_replacement#silent-what-was-written-in-place-is-read-as-it-was"
_REFUSED = "refused"


def or_refused(answer: Any, model: nn.Module, *inputs: Any) -> Any:
    """Use the answer; a ``ValueError`` about a ReLU where tracing does not go becomes a marked result."""
    try:
        return answer(model, *inputs)
    except ValueError:
        if getattr(model, "hidden_inside", None) is None:
            raise
    graph = fx.Graph()
    for index in range(len(inputs)):
        graph.placeholder(f"input_{index}")
    graph.output(_REFUSED)
    return fx.GraphModule({}, graph)


def relus_hidden(case: CaseView) -> bool:
    """Whether the model of this case runs a ReLU where tracing does not go."""
    return isinstance(case.model, WithRelus) and case.model.hidden_inside is not None


def refused_or_replaced(case: CaseView) -> Violation | None:
    """A ReLU where tracing does not go is told about, or replaced all the same."""
    if case.outputs == [_REFUSED, _REFUSED] or same_result(case) is None:
        return None
    assert isinstance(case.model, WithRelus)
    inside = case.model.hidden_inside
    node = next((node.index for node in case.nodes if node.target == inside), None)
    message = f"Running the result still runs a ReLU, inside `{inside}`, and the pass returned it without a ValueError."
    return Violation(message, node)


def read_after_in_place(case: CaseView) -> Violation | None:
    """Whatever read a value after a ReLU changed it in place no longer reads the value from before."""
    now = _by_name(case)
    for relu in case.before:
        if relu not in RELU or "in place" not in relu.notes:
            continue
        for read in relu.inputs:
            for user in case.before.nodes[read].users:
                reader, value = now.get(user), now.get(read)
                if user > relu.index and reader and value and value.index in reader.inputs:
                    message = f"Node `{reader.name}` reads `{value.name}`, which `{relu.name}` changed in place before."
                    return Violation(message, reader.index, _READ_LATER)
    return None


def skips_stay(case: CaseView) -> Violation | None:
    """What reads the input of a ReLU that works on a new value still reads that input."""
    now = _by_name(case)
    for relu in case.before:
        if relu not in RELU or "in place" in relu.notes:
            continue
        for read in relu.inputs:
            for user in case.before.nodes[read].users:
                reader, value = now.get(user), now.get(read)
                if user > relu.index and reader and value and value.index not in reader.inputs:
                    unchanged = f"`{value.name}`, which `{relu.name}` did not change"
                    return Violation(f"Node `{reader.name}` no longer reads {unchanged}.", reader.index, _READ_LATER)
    return None


def inputs_unchanged(case: CaseView) -> Violation | None:
    """The tensors that were given beside the model are as before; the models hold theirs as ``tried``."""
    if any("`tried`" in change for change in case.changes):
        return Violation("The tensor that was given as an input has been changed, which was to stay as it is.")
    return None


def others_stay(case: CaseView) -> Violation | None:
    """Every call of the model that is no ReLU is still made."""
    left = Counter((node.op, node.target) for node in case.nodes)
    for node in case.before:
        if not node.op.startswith("call") or node in RELU:
            continue
        left[node.op, node.target] -= 1
        if left[node.op, node.target] < 0:
            if "in place" in node.notes:
                message = f"Node `{node.name}` ({node.call}) of the model is gone: it works in place."
                return Violation(message, None, f"{_HERE}#what-removing-dead-code-deletes")
            return Violation(f"Node `{node.name}` ({node.call}) of the model is gone: it is no ReLU.")
    return None


def _by_name(case: CaseView) -> dict[int, NodeRecord]:
    """The nodes of the model's trace that stand under the same name in the result, which was traced anew."""
    found = {before.index: case.graph.named(before.name) if case.graph else None for before in case.before}
    return {index: node for index, node in found.items() if node and node.target == case.before.nodes[index].target}
