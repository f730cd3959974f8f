"""Find the channels of linear layers that one head of attention uses."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Check
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.returned import instead_of, numbers_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

_SDPA = nn.functional.scaled_dot_product_attention


class _Cutting(fx.Interpreter):
    """An Interpreter that turns the results of the linear layers before the attention into leaves of autograd."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.leaves: dict[str, Tensor] = {}
        self.attended: Tensor | None = None

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        if n.target is _SDPA:
            self.attended = value
        if n.op == "call_module" and isinstance(self.fetch_attr(n.target), nn.Linear) and self.attended is None:
            value = self.leaves[n.name] = value.detach().requires_grad_()
        return value


def channels(module: fx.GraphModule, x: Tensor, head: int) -> dict[str, list[int]]:
    """For each linear layer before the attention, the channels on which the result of the head depends."""
    with torch.enable_grad():
        cutting = _Cutting(module)
        cutting.run(x)
        one = cutting.attended[:, head]
        leaves = list(cutting.leaves.values())
        slopes = torch.autograd.grad((one * torch.randn_like(one)).sum(), leaves, allow_unused=True)
    return {
        name: [] if slope is None else slope.flatten(0, -2).any(0).nonzero().flatten().tolist()
        for name, slope in zip(cutting.leaves, slopes, strict=True)
    }


@rule
def all_channels(case: CaseView) -> Found:
    """The answer maps each call to a linear layer before the attention to the channels that the head uses."""
    table, expected = table_of(case.value), channels(*case.arguments)
    if table is None:
        yield None, instead_of("a dict with node names as keys", case.value)
        return
    for name in table:
        if name not in expected:
            yield None, f"`{name}` is in the answer, but does not call a linear layer before the attention."
    for name, right in expected.items():
        node = case.before.named(name)
        if name not in table:
            yield node, "calls a linear layer before the attention, but is missing from the answer"
            return
        found = numbers_of(table[name])
        if found is None:
            yield node, "has no list of channels in the answer"
            return
        if extra := set(found) - set(right):
            yield node, f"has channel {min(extra):g} in the answer, but the head does not use this channel"
        if missing := set(right) - set(found):
            yield node, f"does not have channel {min(missing)} in the answer, but the head uses this channel"
        if found != sorted(set(found)):
            yield node, "has channels in the answer that are not in increasing order, or that are repeated"


CHECK = Check((all_channels, input_unchanged))
