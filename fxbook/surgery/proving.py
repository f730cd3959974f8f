"""Prove that a traced module does what its model does: results, inputs, buffers and gradients, on given batches."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.utils import _pytree as pytree

_SEEDS = 0, 1
State = list[tuple[nn.Module, bool, list[tuple[str, Tensor, Tensor]]]]


def prove(
    traced: fx.GraphModule,
    model: nn.Module,
    *batches: tuple[Any, ...],
    modes: tuple[bool, ...] = (True, False),
    gradients: bool = True,
) -> None:
    """Compare a traced module with its model on batches, in training and in eval mode, and restore both.

    Each batch is run with two seeds for torch and Python. This compares the results, the inputs after the call, the
    buffers, and the gradients of inputs and parameters. It does not compare plain attributes, shared memory, strides or
    memory format. A model's own ``train`` method counts as a difference, since the traced module has no such method.

    Args:
        traced: what was recorded; its parameters and buffers have the model's names.
        model: the module that it was recorded from. A module from ``torch.export`` rejects ``train()``.
        batches: each a tuple of inputs, by position.
        modes: ``(False,)`` compares in eval mode only.
        gradients: ``False`` for a model that cannot be differentiated, such as one that calls ``numpy()`` on an input.

    Raises:
        TypeError: there is no batch, or one is not a tuple.
        AssertionError: the two differ.

    Example:
        >>> import torch
        >>> from fxbook.surgery.proving import prove
        >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout())
        >>> prove(torch.fx.symbolic_trace(model), model, (torch.ones(3, 2),))
    """
    if not batches or not all(isinstance(batch, tuple) for batch in batches):
        raise TypeError("give one batch or more, each a tuple of inputs")
    state = _saved(traced, model)
    try:
        for training, seed, batch in itertools.product(modes, _SEEDS, batches):
            seen = []
            for module in (traced, model):
                _restore(state)
                if any(part.training != training for part in module.modules()):
                    module.train(training)
                seen.append(_behaviour(module, model, batch, seed, gradients))
            (found, rest), (expected, others) = seen
            torch.testing.assert_close(found, expected, equal_nan=True)
            if rest != others:
                raise AssertionError(f"{rest} is not {others}")
    finally:
        _restore(state)


@torch.enable_grad()
def _behaviour(
    module: nn.Module, model: nn.Module, batch: tuple[Any, ...], seed: int, gradients: bool
) -> tuple[Any, Any]:
    """The tensors that a call makes or leaves behind, and the rest of the result."""
    leaves = pytree.tree_map_only(Tensor, _leaf if gradients else torch.clone, batch)
    given = pytree.tree_map_only(Tensor, torch.clone, leaves)
    result = _seeded(module, given, seed)
    # By the model's names: the module's tensor, or the model's own if the module has none with that name.
    own: dict[str, Tensor] = dict(module.named_parameters(remove_duplicate=False))
    sources: dict[str, Tensor] = {name: own.get(name, value) for name, value in model.named_parameters()}
    sources |= {f"input {place}": value for place, value in enumerate(_tensors(leaves))}
    own = dict(module.named_buffers(remove_duplicate=False))
    buffers = {name: own.get(name, value) for name, value in model.named_buffers()}
    found = _gradients(_tensors(result), sources) if gradients else {}
    seen = pytree.tree_map(torch.clone, (_tensors((result, given)), buffers, found))
    rest = pytree.tree_map_only(Tensor, lambda value: (type(value), value.requires_grad), result)
    return seen, pytree.tree_flatten(rest)


def _seeded(module: Callable[..., Any], given: tuple[Any, ...], seed: int) -> Any:
    before = random.getstate()
    try:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            random.seed(seed)
            return module(*given)
    finally:
        random.setstate(before)


def _leaf(value: Tensor) -> Tensor:
    return value.detach().clone().requires_grad_(value.is_floating_point() or value.is_complex())


def _tensors(value: Any) -> list[Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, Tensor)]


def _gradients(outputs: list[Tensor], sources: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Gradients of a sum with a different weight for each output element, so that errors do not cancel."""
    ends = [output for output in outputs if output.requires_grad]
    weights = [
        torch.linspace(1 + 2 * place, 2 + 2 * place, end.numel()).to(end).view_as(end) for place, end in enumerate(ends)
    ]
    wanted = {name: value for name, value in sources.items() if value.requires_grad}
    if not (ends and wanted):
        return {}
    found = torch.autograd.grad(ends, list(wanted.values()), weights, allow_unused=True, materialize_grads=True)
    return dict(zip(wanted, found, strict=True))


def _saved(*modules: nn.Module) -> State:
    state = []
    for part in {part for module in modules for part in module.modules()}:
        own = (*part.named_parameters(recurse=False), *part.named_buffers(recurse=False))
        state.append((part, part.training, [(name, value, value.clone()) for name, value in own]))
    return state


@torch.no_grad()
def _restore(state: State) -> None:
    for part, training, values in state:
        part.training = training
        for name, tensor, value in values:
            setattr(part, name, tensor.copy_(value))
