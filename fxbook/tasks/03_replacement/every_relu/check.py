"""Turn every ReLU into GELU, and prove it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from fxbook.cases import Check
from fxbook.graph.record import NodeRecord
from fxbook.rules.explained import no_leftovers, recompiled
from fxbook.rules.families import RELU
from fxbook.rules.predicates import input_unchanged, none_left, same_result, shares_weights
from fxbook.rules.rule import Found, rule, where
from fxbook.rules.view import CaseView

from ..check import nothing_dead
from .cases import REFUSED, FrozenEncoder, WithRelus

_READ_LATER = "03_replacement#silent-what-was-written-in-place-is-read-as-it-was"


class _GeluForRelu(TorchFunctionMode):
    """Computes GELU in place of every ReLU, in any spelling; writes in place if the ReLU does."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        if name == "rnn_relu_cell":
            x, hidden, from_input, from_hidden, *biases = args
            return nn.functional.gelu(x @ from_input.T + hidden @ from_hidden.T + sum(biases))
        if name not in ("relu", "relu_"):
            return function(*args, **kwargs)
        value = args[0] if args else kwargs["input"]
        result = nn.functional.gelu(value)
        in_place = name == "relu_" or kwargs.get("inplace") or True in args[1:]
        return value.copy_(result) if in_place else result


def with_gelu(model: nn.Module, *inputs: Tensor) -> Any:
    with _GeluForRelu():
        return model(*inputs)


def has_hidden_relus(case: CaseView) -> bool:
    """Whether the model of this case runs a ReLU in a leaf module, which tracing does not enter."""
    return isinstance(case.model, WithRelus) and case.model.hidden_inside is not None


def shows_all_relus(case: CaseView) -> bool:
    return not has_hidden_relus(case)


@rule
def inputs_unchanged(case: CaseView) -> Found:
    """The input tensors are unchanged; they are stored in the model as ``tried``."""
    if any("`tried`" in change for change in case.changes):
        yield None, "An input tensor has been changed: leave the inputs unchanged."


@rule
def refused_or_replaced(case: CaseView) -> Found:
    """If a leaf module runs a ReLU, the answer raises a ValueError, or replaces that ReLU too."""
    if case.outputs == [REFUSED, REFUSED] or same_result(case) is None:
        return
    assert isinstance(case.model, WithRelus)
    inside = case.model.hidden_inside
    node = next((node for node in case.nodes if node.target == inside), None)
    fused = ", in the fused operator of the fast path" if isinstance(case.model, FrozenEncoder) else ""
    yield node, f"The result still runs a ReLU inside `{inside}`{fused}, but no `ValueError` was raised."


@rule(_READ_LATER)
def read_after_in_place(case: CaseView) -> Found:
    """If a ReLU changed a value in place, the value's later users use the new value."""
    for relu, value, reader in _read_later(case):
        if "in place" in relu.notes and value.index in reader.inputs:
            yield reader, f"uses `{value.name}`, which `{relu.name}` changed in place: it must use the GELU instead"


@rule(_READ_LATER)
def skips_stay(case: CaseView) -> Found:
    """Users of the input of a ReLU that does not write in place still use that input."""
    for relu, value, reader in _read_later(case):
        if "in place" not in relu.notes and value.index not in reader.inputs:
            yield reader, f"no longer uses `{value.name}`, which `{relu.name}` did not change"


def _read_later(case: CaseView) -> Iterator[tuple[NodeRecord, NodeRecord, NodeRecord]]:
    """Each ReLU in the model, with the nodes of the result for its input and for each later user of that input."""
    now = _by_name(case)
    for relu in case.before:
        for index in relu.inputs if relu in RELU else ():
            for user in case.before.nodes[index].users:
                if user > relu.index and user in now and index in now:
                    yield relu, now[index], now[user]


def _by_name(case: CaseView) -> dict[int, NodeRecord]:
    """Maps the index of a node in the model's trace to the node of the result with the same name and target."""
    assert case.graph is not None
    named = {before.index: case.graph.named(before.name) for before in case.before}
    return {index: node for index, node in named.items() if node and node.target == case.before.nodes[index].target}


@rule
def others_stay(case: CaseView) -> Found:
    """Every other call in the model is still made."""
    calls = Counter((node.op, node.target) for node in case.nodes)
    for node in case.before:
        if not node.op.startswith("call") or node in RELU:
            continue
        calls[node.op, node.target] -= 1
        if calls[node.op, node.target] < 0:
            gone = f"Node `{node.name}` ({node.call}) of the model is missing"
            if "in place" in node.notes:
                yield None, f"{gone}: it writes in place.", "03_replacement#what-removing-dead-code-deletes"
            else:
                yield None, f"{gone}: it is not a ReLU."


CHECK = Check(
    (
        inputs_unchanged,
        refused_or_replaced.where(has_hidden_relus),
        *where(
            shows_all_relus,
            recompiled,
            none_left(RELU),
            same_result.or_because(read_after_in_place, skips_stay, others_stay),
            nothing_dead,
            no_leftovers,
        ),
        input_unchanged,
        shares_weights.where(shows_all_relus),
    ),
    expected=with_gelu,
)
