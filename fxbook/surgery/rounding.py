"""Bound how far rounding can move the result of a network, by a computation alongside the network.

Each node rounds. By the standard model of floating-point arithmetic, ``fl(a op b) = (a op b)(1 + d)``, ``|d| <= u``, so
the error of a sum of ``n`` products, in any order, is at most ``n u / (1 - n u)`` times the same sum of absolute values
(N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, sections 2.2 and 3.1). The error of a node reaches the
result multiplied by the derivative of the result with respect to the node's value. The bound is the sum of these
products over all nodes, without terms in ``u`` squared, underflow, and ReLUs whose input changes sign through rounding.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.utils import _pytree as pytree

functional = nn.functional
# A batch norm's roundings besides sums of products, whether it runs or is folded into the layer before it: the
# variance plus eps, the root, the quotient, and products and sums with weight, mean and bias.
_OF_A_NORM = 8


def error_bound(traced: fx.GraphModule, inputs: Sequence[Any], dtype: torch.dtype = torch.float32) -> float:
    """The largest error that rounding can cause in any element of a network's result.

    It holds for the network itself, and for the same network with batch norms folded into convolutions. So the results
    of two such networks differ by at most the sum of their bounds.

    Args:
        traced: a network in eval mode whose result is one tensor, with a row for each item of the batch. It may have
            convolutions, linear layers, batch norms, ReLUs, sums, differences, quotients, means, global average pools,
            and operations that only pass values on.
        inputs: in the order of the network's inputs.
        dtype: the dtype in which the network computes.

    Raises:
        NotImplementedError: a node calls something else.
        ValueError: a node rounds so often that the model gives no bound in ``dtype``: ``n u`` is 1 or more, as with
            2048 roundings in float16.
    """
    exact = [item.double() if torch.is_tensor(item) else item for item in inputs]
    run = _Rounding(copy.deepcopy(traced).double(), torch.finfo(dtype).eps / 2)
    most = 0.0
    with torch.enable_grad():
        result = run.run(*exact)
        values = [value for value, _ in run.rounded]
        # No row depends on another, so the derivative of a column's sum gives the derivative of each of its elements.
        for column in result.flatten(1).unbind(1):
            slopes = torch.autograd.grad(column.sum(), values, retain_graph=True, allow_unused=True)
            pairs = zip(slopes, run.rounded, strict=True)
            moved = sum((slope.abs() * off).flatten(1).sum(1) for slope, (_, off) in pairs if slope is not None)
            most = max(most, float(moved.max()))
    return most


@dataclasses.dataclass(frozen=True)
class _Unit:
    u: float

    def gamma(self, roundings: int) -> float:
        """The relative error of consecutive roundings; raises if ``n u >= 1``, where the formula does not hold."""
        if roundings * self.u >= 1:
            raise ValueError(
                f"no bound: {roundings} roundings in a row are too many for a dtype that rounds by {self.u:.1e}; "
                "use a dtype with more digits, such as torch.float32"
            )
        return roundings * self.u / (1 - roundings * self.u)


class _Rounding(fx.Interpreter):
    """Runs a graph in float64 and keeps each rounded value with a bound on its node's own error."""

    def __init__(self, module: fx.GraphModule, u: float) -> None:
        super().__init__(module)
        self.unit = _Unit(u)
        self.rounded: list[tuple[Tensor, Tensor]] = []

    def call_method(self, target: str, args: Any, kwargs: Any) -> Any:
        return self._kept(target, super().call_method(target, *_copied((args, kwargs))), args, kwargs)

    def call_function(self, target: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        return self._kept(target.__name__, super().call_function(target, *_copied((args, kwargs))), args, kwargs)

    def _kept(self, name: str, value: Any, args: Any, kwargs: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        match name.rstrip("_"):
            case "add" | "iadd" | "sub" | "truediv" | "div" if not {"alpha", "rounding_mode"} & kwargs.keys():
                return self._keep(value, self.unit.u * value.abs())
            case "mean":
                return self._mean(value, args[0])
            case "relu" | "flatten" | "dropout":
                return value
        raise NotImplementedError(f"no bound is known for a call to {name}")

    def call_module(self, target: str, args: Any, kwargs: Any) -> Any:
        layer, x = self.fetch_attr(target), next(iter((*args, *kwargs.values())))
        value = super().call_module(target, *_copied((args, kwargs)))
        match layer:
            case nn.Conv2d():
                settings = layer.stride, layer.padding, layer.dilation, layer.groups
                return self._product(value, layer, lambda *parts: functional.conv2d(x.abs(), *parts, *settings))
            case nn.Linear():
                return self._product(value, layer, lambda *parts: functional.linear(x.abs(), *parts))
            case nn.BatchNorm2d() if layer.running_mean is not None:
                return self._keep(value, self.unit.gamma(_OF_A_NORM) * _norm_of_sizes(layer, x))
            case nn.AdaptiveAvgPool2d():
                return self._mean(value, x)
            case nn.ReLU() | nn.Flatten() | nn.Identity() | nn.Dropout() | nn.Dropout2d():
                return value
        raise NotImplementedError(f"no bound is known for a call to {type(layer).__name__}")

    def _product(self, value: Tensor, layer: nn.Conv2d | nn.Linear, of_sizes: Callable[..., Tensor]) -> Tensor:
        bias = None if layer.bias is None else layer.bias.abs()
        # The weights carry the roundings from a batch norm that was folded in.
        roundings = layer.weight[0].numel() + 1 + _OF_A_NORM
        return self._keep(value, self.unit.gamma(roundings) * of_sizes(layer.weight.abs(), bias))

    def _mean(self, value: Tensor, x: Tensor) -> Tensor:
        # The sum of the absolute values is at most their number times their maximum.
        return self._keep(value, self.unit.gamma(x.numel() // value.numel() + 1) * x.abs().max().expand_as(value))

    def _keep(self, value: Tensor, off: Tensor) -> Tensor:
        value = value if value.requires_grad else value.requires_grad_()
        self.rounded.append((value, off.detach()))
        return value


def _copied(arguments: Any) -> Any:
    """Copies of the tensors, so that a node that works in place does not change a tensor that is kept."""
    return pytree.tree_map_only(Tensor, torch.clone, arguments)


def _norm_of_sizes(layer: nn.BatchNorm2d, x: Tensor) -> Tensor:
    weight, bias = layer.weight, layer.bias
    return functional.batch_norm(
        x.abs(),
        -layer.running_mean.abs(),
        layer.running_var,
        None if weight is None else weight.abs(),
        None if bias is None else bias.abs(),
        eps=layer.eps,
    )
