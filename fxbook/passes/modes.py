"""Switch a module to the other mode, and find the calls that depend on the mode."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from torch import fx, nn

_WITH_A_MODE = (
    nn.modules.batchnorm._NormBase,
    nn.modules.dropout._DropoutNd,
    nn.MultiheadAttention,
    nn.RNNBase,
    nn.RReLU,
    nn.TransformerEncoderLayer,
)


@contextlib.contextmanager
def in_mode(module: nn.Module, training: bool) -> Iterator[bool]:
    """Set the mode, and restore the mode of each part afterwards; yields whether the module can be switched."""
    modes = {part: part.training for part in module.modules()}
    try:
        module.train(training)
        switched = True
    except NotImplementedError:
        switched = False
    try:
        yield switched
    finally:
        for part, mode in modes.items():
            part.training = mode


def calls_with_a_mode(module: fx.GraphModule) -> int:
    """How many called layers may behave differently in training: layers with a mode, and any that are not torch's."""
    return sum(
        any(isinstance(part, _WITH_A_MODE) or not _is_of_torch(part) for part in layer.modules())
        for node in module.graph.nodes
        if node.op == "call_module" and (layer := module.get_submodule(node.target))
    )


def _is_of_torch(layer: nn.Module) -> bool:
    return type(layer).__module__.startswith("torch.")
