"""Rules that exercises of chapter 05 share, on the graph and on everything that a run does."""

from __future__ import annotations

import builtins
import json
import math
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases.values import Value, decode_tensor, dict_items, difference
from fxbook.graph.record import NodeRecord
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import behaviour

_COUNTS = {1: "one", 2: "two", 3: "three", 4: "four"}
# Operators of torch.ops in these spaces are torch's own.
_TORCHS_OWN = ("aten", "prims", "prim", "higher_order", "profiler", "inductor")


# ---- what is in the graph ----------------------------------------------------------------------------------------


def guards(case: CaseView) -> list[NodeRecord]:
    """The nodes in which the traced code checks an argument that was fixed while tracing."""
    words = "has been specialized to have value"
    return [node for node in case.nodes if node.target.endswith("_assert_is_none") or words in json.dumps(node.args)]


@rule("05_control_flow_limits#fix-an-argument-concrete_args")
def nothing_fixed(case: CaseView) -> Found:
    """No argument was fixed while tracing."""
    for node in guards(case):
        yield node, "checks an argument that was fixed while tracing: fix none"


def is_own(node: NodeRecord) -> bool:
    """Whether the node calls a function or an operator that comes from neither torch nor Python."""
    if node.op != "call_function":
        return False
    if node.target.startswith("torch.ops."):
        return node.target.split(".")[2] not in _TORCHS_OWN
    return not node.target.startswith(("torch.", "operator.", "math.")) and not hasattr(builtins, node.target)


def is_opaque(node: NodeRecord) -> bool:
    """Whether the node calls a module that does not come from torch."""
    return node.op == "call_module" and not (node.kind or "").startswith("torch.")


@rule
def open_to_passes(case: CaseView) -> Found:
    """Every step is a node: no user-defined function or module is kept whole."""
    for node in case.nodes:
        if is_own(node):
            yield node, f"calls `{node.target}`, which no pass can look into"
        elif is_opaque(node):
            yield node, f"keeps a `{node.kind}` whole: every step must be a node"


# ---- what a run does: its result, its batch afterwards, its gradients ------------------------------------------------


def expected_behaviour(model: nn.Module, x: Tensor) -> dict[str, Any]:
    return behaviour(model, model, x)


def outputs(case: CaseView, key: str) -> list[tuple[Value, Value]]:
    """One part of what each run reported, with the expected part."""
    runs = zip(case.outputs or [], case.expected, strict=True)
    return [(dict_items(output)[repr(key)], dict_items(expected)[repr(key)]) for output, expected in runs]


@rule
def right_on_every_batch(case: CaseView) -> Found:
    """On each kind of batch, the result is the model's."""
    for result, expected in outputs(case, "result"):
        differs = difference(result, expected)
        if differs == "it is None, not a tensor":
            node = next(filter(is_own, case.nodes), None)
            who = f"The function that node `{node.name}` calls" if node else "The result"
            yield node, f"{who} returns None, not a tensor."
        elif differs:
            how = how_numbers_differ(result, expected) if differs.startswith("it holds different") else None
            yield _output(case), f"On {case.case.name}, the result is wrong: {how or differs}."


def how_numbers_differ(result: Value, expected: Value) -> str | None:
    """How a tensor's values differ, in words, if they differ by whole rounds or by one constant; else ``None``."""
    found, wanted = (decode_tensor(value).double() for value in (result, expected))
    counted = wanted != 0
    ratio = (found[counted] / wanted[counted]).log() / math.log(1.5)
    # A round multiplies by 1.5.
    if bool(counted.any()) and torch.allclose(ratio, ratio.round(), rtol=0, atol=1e-3):
        rounds = torch.zeros_like(found)
        rounds[counted] = ratio.round()
        return _rounds_apart(rounds[counted.any(dim=-1)])
    by = (found - wanted).flatten()
    if torch.allclose(by, by.mean(), rtol=0, atol=1e-4):
        return f"every number is too {'large' if by.mean() > 0 else 'small'} by {abs(float(by.mean())):.4g}"
    return None


def _rounds_apart(rounds: Tensor) -> str:
    """How many more or fewer rounds ran than in the model, in all rows or in some of them."""
    by_row = rounds.gather(-1, rounds.abs().argmax(dim=-1, keepdim=True)).flatten()
    apart = by_row[by_row != 0]
    times = {int(number) for number in apart.unique()}
    signs = {"more" if number > 0 else "fewer" for number in times}
    more = " or ".join(sorted(signs, reverse=True))
    if len(times) == 1:
        count = abs(min(times))
        more = f"{_COUNTS.get(count, count)} round{'s' if count > 1 else ''} {more}"
        if len(apart) == len(by_row):
            return f"it ran {more} than in the model"
    else:
        more = f"{more} rounds"
    rows = f"{len(apart)} of {len(by_row)} rows"
    return f"{rows} ran {more} than in the model: the whole batch must decide"


@rule
def batch_left_alone(case: CaseView) -> Found:
    """The tensor that was passed holds the same values afterwards."""
    for batch, expected in outputs(case, "batch"):
        if difference(batch, expected):
            node = next((node for node in case.nodes if "in place" in node.notes), None)
            sentence = "Running the result overwrites the batch that was passed, which belongs to the caller."
            yield node or _own_or_output(case), sentence


@rule
def gradients_kept(case: CaseView) -> Found:
    """The gradients of the batch and of the weights are the same as in the model."""
    for gradients, expected in outputs(case, "gradients"):
        ours = dict_items(gradients)
        for key, theirs in dict_items(expected).items():
            name = key[1:-1]
            if differs := difference(ours[key], theirs, f"that of `{name}`"):
                what = f"`{name}` gets none" if ours[key] is None else differs
                cut = next((node for node in case.nodes if node.target in ("detach", "detach_")), None)
                sentence = f"The result is right, but its gradients are wrong: {what}."
                yield cut or _own_or_output(case), sentence


def _own_or_output(case: CaseView) -> NodeRecord | None:
    return next(filter(is_own, case.nodes), None) or _output(case)


def _output(case: CaseView) -> NodeRecord | None:
    return next((node for node in case.nodes if node.op == "output"), None)
