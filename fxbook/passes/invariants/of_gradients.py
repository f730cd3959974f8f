"""The invariant on what autograd computes: the gradients of a result, also for zeros, and second derivatives."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, fx
from torch.utils import _pytree as pytree

from fxbook.passes.asking import NotCheckedError, Told, invariant
from fxbook.passes.calling import call
from fxbook.passes.likeness import difference
from fxbook.passes.outcome import SEED, kept, one_line, same_bytes, tensors_of
from fxbook.passes.trial import Trial
from fxbook.passes.varying import varied

_FEW = 2**20


@invariant
def gradients(trial: Trial) -> Told | None:
    """The result has the same gradients, for the inputs and for the parameters that both modules have.

    The buffers are also the same once backward has run. A parameter with a different value counts as a different
    parameter, so folded weights are not compared. In eval mode, a different gradient for a parameter is only advice. At
    zeros and ties, a gradient may differ, but must not become nan. A module that was twice differentiable in its inputs
    must remain so.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.gradients(lambda module: None, random_graph(7))
    """
    old_ones, new_ones = tensors_of(trial.before), tensors_of(trial.after)
    kept = [
        name
        for name, held in trial.before.named_parameters()
        if held.requires_grad and name in new_ones and _alike(held, new_ones[name])
    ]
    found = None
    for number, names in enumerate(_groups(kept, old_ones)):
        told = _otherwise(trial, trial.inputs, names, of_inputs=number == 0)
        if told is not None and not told.advice:
            return told
        found = found or told
    return _nan_at_zeros(trial) or _of_other_integers(trial, kept) or found or _second_otherwise(trial)


def _groups(names: list[str], held: dict[str, Tensor]) -> Iterator[list[str]]:
    limit = max(sum(held[name].nbytes for name in names) // 4, _FEW)
    group: list[str] = []
    size = 0
    for name in names:
        if group and size + held[name].nbytes > limit:
            yield group
            group, size = [], 0
        group.append(name)
        size += held[name].nbytes
    yield group


def _otherwise(trial: Trial, inputs: Sequence[Any], names: list[str], *, of_inputs: bool) -> Told | None:
    """What differs in the gradients of some parameters and, if ``of_inputs``, of the inputs."""
    try:
        before, asked_before, wrote_before = _gradients(trial.before, inputs, names, of_inputs)
    except Exception as error:
        raise NotCheckedError(f"backward raises {one_line(error)}, before the pass too") from error
    try:
        after, asks, wrote = _gradients(trial.after, inputs, names, of_inputs)
    except Exception as error:
        return Told(f"backward raises {one_line(error)}", "keep the operations that autograd can differentiate")
    for place, asked in asked_before.items():
        if asks.get(place, asked) != asked:
            return Told(
                f"the result{place} has requires_grad={not asked} instead of {asked}",
                "keep what requires a gradient, and detach what was detached",
            )
    found = None
    for name, old in before.items():
        if name not in after:
            continue
        new = after[name]
        advice = name.startswith("`") and not trial.before.training
        if (old is None) != (new is None):
            depends = "no longer depends" if new is None else "now depends"
            gives = "no gradient" if new is None else "a gradient"
            why = "look for detach, no_grad and .data" if new is None else "keep what cut it off, such as detach"
            found = Told(f"the result {depends} on {name}: backward gives it {gives}", why, advice=advice)
        elif old is not None and (said := difference(old, new, f"the gradient of {name}", trial.rtol, trial.atol)):
            found = Told(said, advice=advice)
        if found is not None and not found.advice:
            return found
    for name in (name for name in wrote_before if name in wrote):
        where = f"the buffer `{name}`, once backward has run,"
        if said := difference(wrote_before[name], wrote[name], where, trial.rtol, trial.atol):
            return Told(said, "keep a layer that writes into a buffer out of checkpoint(), which runs it again")
    return found


def _of_other_integers(trial: Trial, names: list[str]) -> Told | None:
    """What differs for other indices, as for the ``padding_idx`` of an embedding, which gets no gradient."""
    for words, inputs in varied(trial.inputs, ("with other whole numbers",) if trial.is_small else ()):
        with contextlib.suppress(NotCheckedError):
            told = _otherwise(trial, inputs, names, of_inputs=True)
            return told and told._replace(what=f"{words}, {told.what}")
    return None


def _nan_at_zeros(trial: Trial) -> Told | None:
    for words, inputs in varied(trial.inputs, ("with zeros and equal numbers",)):
        try:
            before, after = (_gradients(module, inputs, [], True)[0] for module in (trial.before, trial.after))
        except Exception:
            return None
        for name, old in before.items():
            new = after.get(name)
            if old is not None and new is not None and bool(old.isfinite().all()) and bool(new.isnan().any()):
                return Told(
                    f"{words}, the gradient of {name} is nan, and was not before", "an infinite slope times 0 is nan"
                )
    return None


def _second_otherwise(trial: Trial) -> Told | None:
    """Whether the module is no longer twice differentiable, for example because a function defines its own backward."""
    try:
        before = _second_derivatives(trial.before, trial.inputs)
    except Exception:
        return None
    try:
        after = _second_derivatives(trial.after, trial.inputs)
    except Exception as error:
        said = f"the second derivative raises {one_line(error)}"
        return Told(said, "document that a gradient of the gradient cannot be taken", advice=True)
    for name, old in before.items():
        new = after.get(name, old)
        limits = (1e-3, 1e-4 * max(1.0, old.abs().max().item() if old.numel() else 0.0))
        if bool(old.isfinite().all()) and (said := difference(old, new, f"the second derivative of {name}", *limits)):
            return Told(said, "write your own backward with operations that autograd can differentiate")
    return None


def _second_derivatives(module: fx.GraphModule, inputs: Sequence[Any]) -> dict[str, Tensor]:
    with _running(module, inputs) as (leaves, results, _):
        parts, weights = _weighted(results.values())
        if not parts or not leaves:
            return {}
        held = list(leaves.values())
        first = torch.autograd.grad(parts, held, weights, allow_unused=True, create_graph=True)
        parts, weights = _weighted(one for one in first if one is not None)
        second = torch.autograd.grad(parts, held, weights, allow_unused=True) if parts else [None] * len(held)
    return {
        name: torch.zeros_like(leaf) if one is None else one
        for (name, leaf), one in zip(leaves.items(), second, strict=True)
    }


def _alike(before: Tensor, after: Tensor) -> bool:
    return before.shape == after.shape and before.dtype == after.dtype and same_bytes(before, after)


def _gradients(
    module: fx.GraphModule, inputs: Sequence[Any], names: list[str], of_inputs: bool
) -> tuple[dict[str, Tensor | None], dict[str, bool], dict[str, Tensor]]:
    """The gradients of a weighted sum of all results, by name; ``None`` if the result does not depend on it.

    Also says whether each result requires its gradient, by path, and what the buffers hold after backward. A
    parameter's name is in backquotes.
    """
    with _running(module, inputs) as (leaves, results, stored):
        asks = {place: part.requires_grad for place, part in results.items()}
        held = dict(module.named_parameters())
        leaves = (leaves if of_inputs else {}) | {f"`{name}`": held[name] for name in names}
        parts, weights = _weighted(results.values())
        if not parts or not leaves:
            return dict.fromkeys(leaves), asks, {}
        found = torch.autograd.grad(parts, list(leaves.values()), weights, allow_unused=True)
        buffers = {name: held.detach() for name, held in module.named_buffers()}
        wrote = {name: held if same_bytes(stored[name], held) else held.clone() for name, held in buffers.items()}
    return dict(zip(leaves, found, strict=True)), asks, wrote


@contextlib.contextmanager
def _running(module: fx.GraphModule, inputs: Sequence[Any]) -> Iterator[tuple[dict[str, Tensor], ...]]:
    """The inputs to differentiate for, by name, the tensors of the result, by path, and what the module held."""
    leaves: dict[str, Tensor] = {}
    # If any inputs require gradients, only those are differentiated, as in a backend.
    says = any(isinstance(one, Tensor) and one.requires_grad for one in pytree.tree_leaves(inputs))

    def leaf(value: Tensor) -> Tensor:
        if value.is_nested or not value.is_floating_point() or (says and not value.requires_grad):
            return value.detach().clone()
        own = leaves[f"input {len(leaves)}"] = value.detach().clone().requires_grad_()
        # A module may write into its inputs, which autograd forbids for leaves.
        return own.clone()

    given = pytree.tree_map_only(Tensor, leaf, inputs)
    with torch.enable_grad(), kept(module) as stored:
        result = call(module, given)
        flat = pytree.tree_flatten_with_path(result)[0]
        yield leaves, {pytree.keystr(path): part for path, part in flat if isinstance(part, Tensor)}, stored


def _weighted(results: Iterable[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    drawn = torch.Generator().manual_seed(SEED)
    parts = [part for part in results if part.requires_grad]
    return parts, [torch.rand(part.shape, generator=drawn, dtype=torch.float64).to(part) + 0.5 for part in parts]
