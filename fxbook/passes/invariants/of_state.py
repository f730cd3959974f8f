"""The invariants on state: tensors, modules that others hold, weight names, and modes."""

from __future__ import annotations

from typing import Any

from torch import Tensor, fx, nn

from fxbook.passes.asking import Told, invariant
from fxbook.passes.likeness import of_outcomes
from fxbook.passes.outcome import dense, is_finite, keep_for_each_other, outcome, same_bytes, tensors_of
from fxbook.passes.shaking import with_other_numbers
from fxbook.passes.state import otherwise, reordered
from fxbook.passes.trial import Trial

# The advice by a part of the message; the first part that matches is used.
_CURES = {
    "random numbers of torch": "draw from a torch.Generator of the pass, or inside torch.random.fork_rng(), "
    "and make layers with torch.nn.utils.skip_init",
    "random numbers of Python": "draw from random.Random(seed)",
    "random numbers of NumPy": "draw from numpy.random.default_rng(seed)",
    "random numbers have the seed": "give the pass its own torch.Generator and seed that, not the global one",
    "inference mode": "switch it on or off in a block, `with torch.inference_mode():`",
    "gradients are switched": "switch them off in a block, `with torch.no_grad():`",
    "default dtype": "give dtype= to each call that makes a tensor",
    "default device": "give device= to each call that makes a tensor, or make them in `with torch.device(...):`",
    "threads": "leave torch.set_num_threads() to whoever runs the model",
    "anomaly detection": "switch it on in a block, `with torch.autograd.detect_anomaly():`",
    "deterministic algorithms": "leave torch.use_deterministic_algorithms() to whoever runs the model",
    "autocast": "switch it on or off in a block, `with torch.autocast(...):`",
    "fast path": "put it back with torch.backends.mha.set_fastpath_enabled()",
    "modes of torch": "enter a mode in a `with` block",
    "hooks are on": "remove a hook with the handle that registering it returns",
    "precision of matrix products": "put it back with torch.set_float32_matmul_precision()",
    "flushed to zero": "put it back with torch.set_flush_denormal()",
    "torch._dynamo.config": "set it in a block, `with torch._dynamo.config.patch(...):`",
    "torch.backends": "put back the flag in a `finally`",
    "recursion limit": "raise it in a `try` block, and put it back in its `finally`",
    "garbage": "put it back in a `finally`",
    "filter for all warnings": "silence them in a block, `with warnings.catch_warnings():`",
    "is patched": "patch in a block, `with unittest.mock.patch.object(...):`",
    "holds different values": "give the module a new parameter or buffer, and leave the old tensor alone",
    "different requires_grad": "leave it to whoever trains the model",
    "others may hold too": "give the module that you return a copy of it, with module.set_submodule(path, copy)",
    "": "work on a copy, and put back what you switch",
}

_SMALL = 2**20
_ROUGHLY = (1e-3, 1e-4)


@invariant
def purity(trial: Trial) -> Told | None:
    """The pass changes nothing but the graph: no tensor, no module that is also used elsewhere, no mode of torch.

    A pass may replace a weight in the module that it was given, but may not write into it, nor replace a weight in a
    called module, which the traced model also holds.

    Example:
        >>> import torch
        >>> from fxbook import invariants
        >>> module = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(2, 2)))
        >>> def wrong(module):
        ...     module.get_submodule("0").weight.data.zero_()
        >>> invariants.purity(wrong, module, (torch.ones(1, 2),))
        Traceback (most recent call last):
        fxbook.passes.report.PurityError: purity: the weight `0.weight` holds different values: it is written ...
    """
    besides = trial.first.besides
    if not besides:
        return None
    return Told(besides[0], next(cure for part, cure in _CURES.items() if part in besides[0]))


@invariant
def state_kept(trial: Trial) -> Told | None:
    """Checkpoints, optimizers and callers still work: names, kinds, order and ties of weights, and root attributes.

    This includes whether a buffer is saved, and the module's tensors and ``meta`` that no node uses.

    A pass must not merge or drop weights because their initial values are equal. A weight under a different name is a
    fault. What some passes cannot avoid is advice: a weight that is gone or new, as after folding, or a name with a new
    prefix, as after splitting a graph into parts.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.state_kept(lambda module: None, random_graph(7))
    """
    if said := next(otherwise(trial.before, trial.after), None) or trial.first.replaced:
        return Told(*said)
    before, after = trial.before.state_dict(), trial.after.state_dict()
    lost = sorted(before.keys() - after.keys())
    new = sorted(after.keys() - before.keys())
    moved = {(name, found) for name in lost for found in new if found.endswith(f".{name}")}
    moved_from, moved_to = {name for name, _ in moved}, {found for _, found in moved}
    for name in (name for name in lost if name not in moved_from):
        for renamed in (found for found in new if found not in moved_to):
            if _same_value(before[name], after[renamed]):
                return Told(f"the weight `{name}` is now called `{renamed}` in state_dict", "keep the names")
    order = reordered(trial.before, trial.after)
    # A pass that builds a new module gets its parameters in the order of the graph.
    if order and trial.before.training and trial.first.in_place:
        return Told(*order)
    if said := _merged_by_value(trial):
        cure = "do not merge or drop weights because they are equal, since training changes them: compare with `is`"
        return Told(said, cure)
    if lost:
        cure = "keep the names, or document that checkpoints no longer fit"
        return Told(f"state_dict has lost `{lost[0]}`{_more(lost)}", cure, advice=True)
    for name, held in trial.before.named_buffers(remove_duplicate=False):
        if name in new and name not in before and isinstance(held, Tensor):
            return Told(f"the buffer `{name}` is saved now: it was not persistent", "register it with persistent=False")
    if new:
        cure = "use persistent=False for a buffer that can be computed"
        return Told(f"state_dict has a new key `{new[0]}`", cure, advice=True)
    if order:
        return Told(*order, advice=True)
    for name, held in before.items():
        if isinstance(held, Tensor) and held.shape != after[name].shape:
            what = f"`{name}` has the shape {tuple(after[name].shape)} instead of {tuple(held.shape)}"
            return Told(what, "document that checkpoints no longer fit", advice=True)
    return _loaded_otherwise(trial)


def _loaded_otherwise(trial: Trial) -> Told | None:
    """Whether different values for untrained tensors, as from a checkpoint, no longer give the same result."""
    old, new, saved = tensors_of(trial.before), tensors_of(trial.after), trial.before.state_dict().keys()
    names = [
        name
        for name, held in old.items()
        if name in saved and not held.requires_grad and held.nbytes <= _SMALL and _alike(held, new.get(name))
    ]
    if not names or of_outcomes(*trial.outcomes(trial.inputs), *_ROUGHLY) is not None:
        return None
    said = _loaded(trial, (trial.before, trial.after), names)
    if said is None:
        return None
    what = f"with different numbers in `{names[0]}`{_more(names)}, as from a checkpoint, {said}"
    return Told(
        what,
        "remove from state_dict the tensors that the pass computed with, or document that checkpoints no longer fit",
        advice=True,
    )


def _merged_by_value(trial: Trial) -> str | None:
    """Whether the pass treats weights as equal or constant because of initial values, which a checkpoint replaces.

    A pass that folds weights and leaves the old ones behind has the same difference on other values.
    """
    made = trial.on_initial_values
    if made is None:
        return None
    old, new = (tensors_of(module) for module in made)
    names = [name for name in trial.shaken if name in old and _alike(old[name], new.get(name))]
    if not names or _loaded(trial, made, []) or _loaded(trial, (trial.before, trial.after), names):
        return None
    numbers = {name: held for name, held in tensors_of(trial.before).items() if name in names}
    if said := _loaded(trial, made, names, numbers):
        return f"after a run on the initial values, with different numbers in `{names[0]}`{_more(names)}, {said}"
    return None


def _loaded(
    trial: Trial,
    pair: tuple[fx.GraphModule, fx.GraphModule],
    names: list[str],
    numbers: dict[str, Tensor] | None = None,
) -> str | None:
    """What differs between two modules once the named tensors hold different values."""
    modules = with_other_numbers(pair, names, numbers)
    keep_for_each_other(*modules)
    before, after = (outcome(module, trial.inputs) for module in modules)
    return of_outcomes(before, after, *_ROUGHLY) if is_finite(before) else None


def _more(names: list[str]) -> str:
    return f" and {len(names) - 1} more" if len(names) > 1 else ""


def _alike(held: Tensor, other: Tensor | None) -> bool:
    same = other is not None and held.shape == other.shape and held.dtype == other.dtype
    return same and dense(held) and dense(other) and same_bytes(held, other)


def _same_value(one: Any, other: Any) -> bool:
    if not (isinstance(one, Tensor) and isinstance(other, Tensor)) or one.shape != other.shape:
        return False
    # If a tensor is all zeros or all ones, as in a fresh norm, its values do not show where they come from.
    telling = dense(one) and bool((one != one.flatten()[:1]).any())
    return telling and one.dtype == other.dtype and same_bytes(one, other)


@invariant
def modes(trial: Trial) -> Told | None:
    """The training mode of each module and ``requires_grad`` of each parameter are as before.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.modes(lambda module: module.train() and None, random_graph(7))
        Traceback (most recent call last):
        fxbook.passes.report.ModesError: modes: the module is now in training mode; call ...
    """
    before, after = (dict(module.named_modules()) for module in (trial.before, trial.after))
    for path, now in after.items():
        # GraphModule creates plain modules for nested paths, whose mode does not matter.
        if type(now) is not nn.Module and path in before and before[path].training != now.training:
            name = f"`{path}`" if path else "the module"
            mode = "training" if now.training else "eval"
            return Told(f"{name} is now in {mode} mode", "call train(...) with the mode that you found")
    old = dict(trial.before.named_parameters())
    for name, now in trial.after.named_parameters():
        if name in old and old[name].requires_grad != now.requires_grad:
            return Told(
                f"`{name}` now has requires_grad={now.requires_grad}", "copy it from the old parameter to the new one"
            )
    return None
