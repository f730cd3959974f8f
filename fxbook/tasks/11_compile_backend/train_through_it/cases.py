"""Graphs as a backend gets them, with inputs; the compiled function is called as Dynamo does, and differentiated."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import seeded
from fxbook.graph.record import record

from ..cases import WIDTH, capture, part_of_llama


class Gated(nn.Module):
    """Two results; silu with a keyword argument, and in place, both on values with later users; other activations."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.up = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(WIDTH, 2 * WIDTH)
        self.act = nn.SiLU(inplace=True)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        scores = self.gate(x)
        opened = functional.silu(input=scores)
        raised = self.up(x)
        self.act(raised)
        return opened * raised, torch.sigmoid(functional.gelu(scores) + functional.relu(raised))


@functools.cache
def _warm_up() -> None:
    """Load what AOTAutograd needs, before the time limit of an answer begins."""
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    def run(module: fx.GraphModule, _: list[Any]) -> Callable[..., Any]:
        return make_boxed_func(module.forward)

    module, (x,) = capture(torch.sin, (torch.ones(1, requires_grad=True),))
    with torch.enable_grad():
        [y] = aot_autograd(fw_compiler=run, bw_compiler=run)(module, [x])(x)
        y.backward()


@functools.cache
def _captured(make: Callable[[], nn.Module], width: int) -> tuple[fx.GraphModule, tuple[str | None, ...], nn.Module]:
    """The captured module, for each input the name of the parameter that it is (or ``None``), and the model."""
    with seeded(0):
        model = make()
        module, example_inputs = capture(model, (torch.randn(3, width),))
    names = {id(tensor): name for name, tensor in model.named_parameters()}
    return module, tuple(names.get(id(value)) for value in example_inputs), model


def given_by(make: Callable[[], nn.Module], width: int = WIDTH) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Pass a copy of the captured module, example inputs, and other inputs."""

    def given(_: nn.Module) -> tuple[Any, ...]:
        _warm_up()
        module, names, model = _captured(make, width)
        shapes = {name: tensor.shape for name, tensor in model.named_parameters()}
        sizes = [shapes[name] if name else (3, width) for name in names]
        examples, inputs = ([torch.randn(size).requires_grad_() for size in sizes] for _ in range(2))
        return copy.deepcopy(module), examples, inputs

    return given


@torch.enable_grad()
def differentiated(function: Callable[..., Any], inputs: list[Tensor]) -> dict[str, Any]:
    """The results of a compiled function, and the gradients of their weighted sum; or the type of a wrong result."""
    results = function(*[tensor.clone() for tensor in inputs])
    if not isinstance(results, tuple | list):
        return {"returned": type(results).__name__}
    if any(not isinstance(result, Tensor) for result in results):
        return {"returned": "something other than tensors"}
    ends = [result for result in results if result.requires_grad]
    if not ends:
        return {"results": list(results), "gradients": None}
    weights = [torch.linspace(1 + 2 * at, 2 + 2 * at, end.numel()).view_as(end) for at, end in enumerate(ends)]
    gradients = torch.autograd.grad(ends, inputs, weights, allow_unused=True)
    return {"results": list(results), "gradients": list(gradients)}


def as_dynamo_calls_it(
    answer: Callable[..., Any], module: fx.GraphModule, examples: list[Tensor], inputs: list[Tensor]
) -> dict[str, Any]:
    """Compile with the answer, run the result on other inputs, and record whether the module's code is stale."""
    function = answer(module, examples)
    if not callable(function):
        return {"compiled": type(function).__name__}
    return {**differentiated(function, inputs), "stale": record(module).stale}


USAGE = Usage(
    "compute",
    cases=(
        Case("a gated block", nn.Identity, tuple, given=given_by(Gated)),
        Case("a block from Llama", nn.Identity, tuple, unseen=True, given=given_by(part_of_llama, 32)),
    ),
    call=as_dynamo_calls_it,
)
