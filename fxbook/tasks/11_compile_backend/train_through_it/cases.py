"""Graphs as a backend gets them, with inputs; what comes back is called as Dynamo calls it, and differentiated."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional

from fxbook.asking import Case, Usage
from fxbook.asking.exercise import seeded

from ..cases import WIDTH, capture, part_of_llama


class Gated(nn.Module):
    """Two results; the function by name, a module that works in place, and a sigmoid, which stays."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(WIDTH, 2 * WIDTH)
        self.up = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.SiLU(inplace=True))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        opened = functional.silu(input=self.gate(x))
        return opened * self.up(x), torch.sigmoid(opened)


@functools.cache
def _warm_up() -> None:
    """Load what AOTAutograd needs, before an answer has its seconds."""
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    def run(module: fx.GraphModule, _: list[Any]) -> Callable[..., Any]:
        return make_boxed_func(module.forward)

    module, (x,) = capture(torch.sin, (torch.ones(1, requires_grad=True),))
    [y] = aot_autograd(fw_compiler=run, bw_compiler=run)(module, [x])(x)
    y.backward()


@functools.cache
def _record(make: Callable[[], nn.Module], width: int) -> tuple[fx.GraphModule, tuple[str | None, ...], nn.Module]:
    with seeded(0):
        model = make()
        module, example_inputs = capture(model, (torch.randn(3, width),))
    names = {id(tensor): name for name, tensor in model.named_parameters()}
    return module, tuple(names.get(id(value)) for value in example_inputs), model


def given_by(make: Callable[[], nn.Module], width: int = WIDTH) -> Callable[[nn.Module], tuple[Any, ...]]:
    """A copy of the recorded graph, and inputs for it: new numbers of a size at which the two activations differ."""

    def given(_: nn.Module) -> tuple[Any, ...]:
        _warm_up()
        module, names, model = _record(make, width)
        shapes = {name: tensor.shape for name, tensor in model.named_parameters()}
        inputs = [torch.randn(shapes[name] if name else (3, width)).requires_grad_() for name in names]
        return copy.deepcopy(module), inputs

    return given


def differentiated(function: Callable[..., Any], inputs: list[Tensor]) -> dict[str, Any]:
    """What a compiled function gives for these inputs, and the gradients of a weighted sum of it.

    In place of either there is a word on what cannot be used.
    """
    results = function(*[tensor.clone() for tensor in inputs])
    if not isinstance(results, tuple | list):
        return {"returned": type(results).__name__}
    if any(not isinstance(result, Tensor) for result in results):
        return {"returned": "something other than tensors"}
    ends = [result for result in results if result.requires_grad]
    if not ends:
        return {"results": list(results), "gradients": None}
    weights = [torch.linspace(1, 2, end.numel()).view_as(end) for end in ends]
    gradients = torch.autograd.grad(ends, inputs, weights, allow_unused=True)
    return {"results": list(results), "gradients": list(gradients)}


def as_dynamo_calls_it(answer: Callable[..., Any], module: fx.GraphModule, inputs: list[Tensor]) -> dict[str, Any]:
    """Compile with the answer, and run what it returns."""
    function = answer(module, inputs)
    return differentiated(function, inputs) if callable(function) else {"compiled": type(function).__name__}


USAGE = Usage(
    "compute",
    cases=(
        Case("a gated block", nn.Identity, tuple, given=given_by(Gated)),
        Case("a part of Llama", nn.Identity, tuple, unseen=True, given=given_by(part_of_llama, 32)),
    ),
    call=as_dynamo_calls_it,
    seconds=4.4,
)
