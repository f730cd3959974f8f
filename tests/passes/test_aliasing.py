"""The invariant ``aliasing`` detects each kind of new sharing of memory, and accepts existing sharing."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassResult

from fxbook import check_pass, invariants
from fxbook.exporting import unguarded
from tests.passes.wrong import drops_clones

aten = torch.ops.aten
DROPOUTS_IN_EVAL_MODE = (aten.dropout.default, aten.clone.default, nn.functional.dropout)


class Regularised(nn.Module):
    """A dropout, and a function of its result."""

    def __init__(self, behind: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.dropout, self.behind = nn.Dropout(0.5), behind

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.behind(self.dropout(x))


def erase_dropouts(module: fx.GraphModule) -> PassResult:
    """Erase dropouts in eval mode, as operators or as their decomposition."""
    found = [node for node in module.graph.nodes if node.target in DROPOUTS_IN_EVAL_MODE]
    for node in found:
        node.replace_all_uses_with(node.args[0])
        module.graph.erase_node(node)
    module.graph.lint()
    module.recompile()
    return PassResult(module, bool(found))


def exported(behind: Callable[[torch.Tensor], torch.Tensor], *, decomposed: bool) -> fx.GraphModule:
    if decomposed:
        # Before torch 2.14, a disabled dropout decomposes to a clone.
        module = fx.symbolic_trace(lambda x: behind(aten.clone.default(x)))
    else:
        module = unguarded(torch.export.export(Regularised(behind).eval(), (torch.ones(3),)))
    assert module.graph.find_nodes(op="call_function", target=DROPOUTS_IN_EVAL_MODE[decomposed])
    return module


def test_an_erased_dropout_returns_the_input() -> None:
    # The clone to which a disabled dropout decomposes makes the result a separate tensor.
    module = exported(lambda x: x, decomposed=True)
    said = "^aliasing: the result shares memory with the input `x`, and did not before: .*return a clone$"
    with pytest.raises(AssertionError, match=said):
        invariants.aliasing(erase_dropouts, module, (torch.ones(3),))
    # No other invariant detects this.
    [fault] = check_pass(erase_dropouts, module, (torch.ones(3),)).faults
    assert fault.invariant == "aliasing"


class Holding(nn.Module):
    """A module with a weight, a buffer, a plain tensor, and a given forward."""

    def __init__(self, body: Callable[..., Any]) -> None:
        super().__init__()
        self.body = body
        self.weight = nn.Parameter(torch.ones(4, 2))
        self.register_buffer("offset", torch.ones(4, 2))

    def forward(self, x: torch.Tensor) -> Any:
        return self.body(self, x)


class Buffers(fx.Tracer):
    """Records buffers as nodes of the graph, instead of computing with them during tracing."""

    proxy_buffer_attributes = True


def traced(body: Callable[..., Any]) -> fx.GraphModule:
    model = Holding(body)
    return fx.GraphModule(model, Buffers().trace(model))


NEW = {
    "an input": (lambda _, x: x.clone(), "the result shares memory with the input `x`"),
    "a weight": (lambda held, _: (1, held.weight.clone()), "the result[1] shares memory with `weight`"),
    "a buffer": (lambda held, _: held.offset.clone().T, "the result shares memory with `offset`"),
    "another result": (lambda _, x: [y := x + 1, y.clone()], "the result[0] shares memory with the result[1]"),
    "of another dtype": (
        lambda _, x: torch.view_as_complex(x.clone()),
        "the result shares memory with the input `x`",
    ),
}
AS_BEFORE = {
    "the input was returned": lambda _, x: (x, x.clone() + 1),
    "a view was returned": lambda held, x: (held.weight[0], x.clone() + 1),
    "columns of one storage": lambda _, x: ((y := x + 1)[:, 0].clone(), y[:, 1].clone()),
    "a value that is not returned": lambda _, x: x.clone().sum(0),
}


@pytest.mark.parametrize("name", NEW)
def test_new_sharing_is_reported(name: str) -> None:
    body, said = NEW[name]
    module = traced(body)
    with pytest.raises(AssertionError) as raised:
        invariants.aliasing(drops_clones, module, (torch.ones(4, 2),))
    assert str(raised.value).startswith(f"aliasing: {said}, and did not before: ")


@pytest.mark.parametrize("name", AS_BEFORE)
def test_existing_sharing_is_accepted(name: str) -> None:
    module = traced(AS_BEFORE[name])
    invariants.aliasing(drops_clones, module, (torch.ones(4, 2),))


def test_a_copy_instead_of_a_view_is_accepted() -> None:
    def copies(module: fx.GraphModule) -> PassResult:
        for node in module.graph.find_nodes(op="call_method", target="view"):
            node.target = "reshape"
            with module.graph.inserting_after(node):
                copied = module.graph.call_method("clone", (node,))
            node.replace_all_uses_with(copied, delete_user_cb=lambda user, copied=copied: user is not copied)
        module.recompile()
        return PassResult(module, True)

    invariants.aliasing(copies, fx.symbolic_trace(lambda x: x.view(-1)), (torch.ones(4, 2),))


def test_a_stored_tensor_may_get_another_name() -> None:
    def renames(module: fx.GraphModule) -> PassResult:
        if "offset" in dict(module.named_buffers()):
            module.register_buffer("moved", module.offset)
            del module.offset
        for node in module.graph.find_nodes(op="get_attr", target="offset"):
            node.target = "moved"
        module.recompile()
        return PassResult(module, True)

    def stores(module: fx.GraphModule) -> PassResult:
        """Compute a sum once, so that a write to the result changes every later result."""
        for node in module.graph.find_nodes(op="call_function", target=operator.add):
            module.register_buffer("folded", module.offset + 1)
            with module.graph.inserting_before(node):
                node.replace_all_uses_with(module.graph.get_attr("folded"))
            module.graph.erase_node(node)
        module.recompile()
        return PassResult(module, True)

    inputs = (torch.ones(4, 2),)
    invariants.aliasing(renames, traced(lambda held, _: held.offset.T), inputs)
    with pytest.raises(AssertionError, match="the result shares memory with `folded`, and did not before"):
        invariants.aliasing(stores, traced(lambda held, _: held.offset + 1), inputs)
