"""Networks, and a function that records how many bytes are alive after each torch operation of a run."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch

# A mode imports this on first use, which takes longer than a check may, so it is imported before the fork.
import torch._dynamo
from torch import Tensor, fx, nn
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from fxbook.cases import Case, Usage
from fxbook.cases.zoo import last_users_first

from ..cases import CleanBlock, functional


class ResNet(nn.Module):
    """The network of the project, with its norms folded and its activations in place."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.head = nn.Conv2d(3, 4, 3, padding=1), nn.Linear(6, 3)
        self.blocks = nn.Sequential(CleanBlock(4, 4, norms=False), CleanBlock(4, 6, 2, norms=False))
        self.eval()

    def forward(self, images: Tensor, mean: Tensor, std: Tensor) -> Tensor:
        x = self.blocks(functional.relu(self.stem((images - mean) / std), inplace=True))
        return self.head(x.mean((2, 3)))


class Unused(nn.Module):
    """Unused inputs before, between and after the inputs that are used."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = nn.Conv2d(3, 4, 1), nn.Linear(4, 2)
        self.eval()

    def forward(self, mask: Tensor, images: Tensor, spare: Tensor, mean: Tensor, late: Tensor) -> Tensor:
        x = self.conv(images - mean).relu_()
        return self.head(torch.exp(x).mean((2, 3)))


class Kept(nn.Module):
    """An input that is used first and last, a view that one node uses twice, values in a list, and nested results, the
    last of which is made first.
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)
        self.eval()

    def forward(self, images: Tensor, mean: Tensor, std: Tensor) -> dict[str, Any]:
        flat = torch.tanh(self.conv(images)).flatten(2)
        x = torch.exp(torch.sigmoid(flat * flat))
        most = torch.cat([flat, x], 2).amax(2)
        return {"rows": x.sum(2) / std.flatten(), "pair": (most, images - mean)}


class Bytes(TorchDispatchMode):
    """Records after each torch operation how many bytes are alive, not counting weights, without holding any tensor."""

    def __init__(self, weights: list[Tensor]) -> None:
        super().__init__()
        self.steps: list[tuple[str, int]] = []
        self.with_gradients = False
        self._weights = [weakref.ref(tensor.untyped_storage()) for tensor in weights]
        self._seen: list[weakref.ref[torch.UntypedStorage]] = []

    def see(self, value: Any) -> None:
        for tensor in pytree.tree_leaves(value):
            if isinstance(tensor, Tensor):
                storage = tensor.untyped_storage()
                if all(ref() is not storage for ref in (*self._seen, *self._weights)):
                    self._seen.append(weakref.ref(storage))

    def alive(self) -> int:
        return sum(storage.nbytes() for ref in self._seen if (storage := ref()) is not None)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # Some operations consist of others; whether torch has decomposed them by this point depends on the grad mode.
        with self:
            result = func.decompose(*args, **(kwargs or {}))
        if result is not NotImplemented:
            return result
        result = func(*args, **(kwargs or {}))
        self.see(result)
        self.with_gradients |= torch.is_grad_enabled()
        if func.overloadpacket is not torch.ops.aten.detach:
            self.steps.append((str(func.overloadpacket), self.alive()))
        return result


def watch_of(traced: fx.GraphModule) -> Bytes:
    return Bytes([*traced.parameters(), *traced.buffers()])


def random_inputs(traced: fx.GraphModule, width: int = 6) -> list[Tensor]:
    """Inputs for a network: images, and for ``mean`` and ``std``, tensors with a value for each channel."""
    names = [str(node.target) for node in traced.graph.find_nodes(op="placeholder")]
    return [torch.rand(3, 1, 1) + 0.5 if name in ("mean", "std") else torch.randn(2, 3, width, width) for name in names]


def observed(answer: Callable[..., Any], traced: fx.GraphModule, tensors: list[Tensor]) -> dict[str, Any]:
    """Facts about a run by the answer, which gets the only list that holds the inputs."""
    watch = watch_of(traced)
    inputs = [tensor.clone() for tensor in tensors]
    watch.see(inputs)
    with watch:
        result = answer(traced, inputs)
    copied = pytree.tree_map_only(Tensor, lambda tensor: tensor.detach().clone(), result)
    needs_gradient = any(isinstance(part, Tensor) and part.requires_grad for part in pytree.tree_leaves(result))
    left = len(inputs)
    inputs.clear()
    del result
    return {
        "steps": watch.steps,
        "result": copied,
        "left": left,
        "held": watch.alive(),
        "with gradients": watch.with_gradients or needs_gradient,
    }


def with_inputs(model: nn.Module) -> tuple[Any, ...]:
    """Make the arguments of the answer: the traced network, and its inputs."""
    traced = fx.symbolic_trace(model)
    last_users_first(traced.graph)
    return traced, random_inputs(traced)


USAGE = Usage(
    "compute",
    cases=(
        Case("the network of the project", ResNet, tuple),
        Case("unused inputs", Unused, tuple, unseen=True),
        Case("an input that is used last, views", Kept, tuple, unseen=True),
    ),
    given=with_inputs,
    call=observed,
)
