"""Run a module on inputs from a fixed seed, record its result, its writes and its error, and restore it."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import gc
import io
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.utils import _pytree as pytree

from fxbook.graph.stored import bytes_of, held_by
from fxbook.passes.calling import Inputs, call
from fxbook.passes.copying import copied
from fxbook.passes.layout import layout_of

SEED = 20_071
"""The seed of every run, so that two runs draw the same random numbers. Unusual, since a graph may itself set 0 or 42.
"""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of a run: its result and the inputs after the run, or its error.

    ``state`` holds the module's own tensors after the run, by name; ``written`` holds the names of those that changed;
    and ``layout`` is the memory layout of the result.
    """

    result: Any = None
    inputs: tuple[Any, ...] = ()
    state: dict[str, Tensor] = dataclasses.field(default_factory=dict)
    written: frozenset[str] = frozenset()
    layout: dict[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    error: Exception | None = None


def one_line(error: Exception) -> str:
    said = str(error).strip().split("\n")[0][:200]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def shared_copy(module: fx.GraphModule, *, apart: bool = False) -> fx.GraphModule:
    """A copy of the graph and of all modules, which hold the same tensors.

    ``apart``: use new tensors in the same memory, so that settings such as ``requires_grad`` are separate.
    """
    held = tensors_of(module).values()
    return copied(module, {id(one): _in_its_memory(one) if apart else one for one in held if not apart or _usual(one)})


def _usual(held: Tensor) -> bool:
    return type(held) in (Tensor, nn.Parameter)


def _in_its_memory(held: Tensor) -> Tensor:
    if isinstance(held, nn.Parameter):
        return nn.Parameter(held.detach(), held.requires_grad)
    return held.detach().requires_grad_(held.requires_grad)


@contextlib.contextmanager
def apart_from_caller() -> Iterator[None]:
    """Leave the caller's modes, in which there may be no values or gradients to compare, and freeze its objects.

    Then ``gc.collect()`` visits only objects that the body makes: otherwise, it would take seconds in a process that
    holds millions of objects.
    """
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    frozen_by_caller = gc.get_freeze_count() > 0
    if not frozen_by_caller:
        gc.freeze()
    try:
        with unset_fake_temporarily(), torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        if not frozen_by_caller:
            gc.unfreeze()


def outcome(module: nn.Module, inputs: Sequence[Any], *, first: Sequence[Any] | None = None) -> Outcome:
    """Run a module on copies of the inputs from a fixed seed, and restore its own tensors.

    ``first`` holds the inputs of an earlier call.
    """
    own = copy.deepcopy(inputs if isinstance(inputs, Inputs) else tuple(inputs))
    try:
        # torch.fx prints the line of the graph that raises.
        with kept(module) as before, torch.no_grad(), contextlib.redirect_stderr(io.StringIO()):
            if first is not None:
                call(module, copy.deepcopy(first))
                torch.default_generator.manual_seed(SEED)
            result = call(module, own)
            layout, result = layout_of(result), detached(result)
            held = {name: one.detach() for name, one in tensors_of(module).items()}
            written = {name for name in before if name in held and not same_bytes(before[name], held[name])}
            # A tensor that is not written to needs no restoring, and so no copy.
            state = {name: one.clone() if name in written else one for name, one in held.items()}
        left = detached(own)
        return Outcome(result, (*left, *getattr(left, "kwargs", {}).values()), state, frozenset(written), layout)
    except Exception as error:
        return Outcome(error=error)


@contextlib.contextmanager
def kept(module: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Seed torch for the body, in which the module runs; then restore its tensors and torch's random state.

    Yields copies of the tensors, by name.
    """
    state = tensors_of(module)
    twin = _twins.get(module)
    others = tensors_of(other) if twin is not None and (other := twin()) is not None else {}
    held_before = {name: _kept_by(others.get(name), held) for name, held in state.items()}
    random = torch.get_rng_state()
    # torch.manual_seed() also seeds devices that are not in use yet, which takes longer than a small graph.
    torch.default_generator.manual_seed(SEED)
    try:
        yield held_before
    finally:
        torch.set_rng_state(random)
        with torch.no_grad():
            for name, held in state.items():
                if not same_bytes(held, held_before[name]):
                    held.copy_(held_before[name])


def _kept_by(other: Tensor | None, held: Tensor) -> Tensor:
    if other is not None and other is not held and dense(held) and dense(other) and held.dtype == other.dtype:
        apart = held.untyped_storage().data_ptr() != other.untyped_storage().data_ptr()
        if apart and held.shape == other.shape and same_bytes(held.detach(), other.detach()):
            return other.detach()
    return held.detach().clone()


_twins: weakref.WeakKeyDictionary[nn.Module, weakref.ref[nn.Module]] = weakref.WeakKeyDictionary()


def keep_for_each_other(one: nn.Module, other: nn.Module) -> None:
    """While one of two modules runs, use the other as the backup of the weights that both have."""
    if one is not other:
        _twins[one], _twins[other] = weakref.ref(other), weakref.ref(one)


def same_bytes(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors of one shape have equal bytes or, if not dense, are equal according to torch; may raise."""
    if one.layout != other.layout:
        return False
    if dense(one) and dense(other):
        return torch.equal(one, other) or torch.equal(bytes_of(one), bytes_of(other))
    if one.is_mkldnn:
        return torch.equal(one.to_dense(), other.to_dense())
    if one.layout == torch.sparse_coo:
        return same_bytes(one.to_dense(), other.to_dense())
    return one.is_meta or torch.equal(one, other)


def tensors_of(module: nn.Module) -> dict[str, Tensor]:
    """A module's parameters, buffers and other tensors, by name; a shared tensor appears under each of its names."""
    return {
        f"{path}.{name}" if path else name: held
        for path, below in module.named_modules(remove_duplicate=False)
        for name, held in held_by(below)
    }


def detached(result: Any) -> Any:
    """The result with detached copies of its tensors; a nested tensor becomes a list of its parts."""

    def copied(tensor: Tensor) -> Tensor | list[Tensor]:
        parts = [part.clone() for part in tensor.detach().unbind()] if tensor.is_nested else None
        return tensor.detach().clone() if parts is None else parts

    return pytree.tree_map_only(Tensor, copied, result)


def dense(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and leaf.layout == torch.strided and not (leaf.is_meta or leaf.is_nested)


def has_fractions(leaf: Tensor) -> bool:
    return leaf.is_floating_point() or leaf.is_complex()


def numbers_of(of: Outcome) -> list[Tensor]:
    return [leaf for leaf in pytree.tree_leaves(of.result) if isinstance(leaf, Tensor) and has_fractions(leaf)]


def is_finite(of: Outcome) -> bool:
    return all(bool(leaf.to_dense().isfinite().all()) for leaf in numbers_of(of) if not leaf.is_nested)
