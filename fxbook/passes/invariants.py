"""What a pass must keep: each invariant as a function that raises an ``AssertionError`` where a pass breaks it.

All are called alike, ``invariants.values(run, module, inputs)``, and leave ``module`` and ``inputs`` as they are: a
pass runs on copies. :func:`check_pass` asks all of them, and runs the pass but once for all that need one run.

Every function takes:

- ``run``: the pass, a callable that gets a ``GraphModule`` and returns ``PassResult(module, modified)``, a
  ``GraphModule``, or ``None`` where it has edited the module in place.
- ``module``: what it is tried on.
- ``inputs``: what the module is run on; without it :func:`fxbook.inputs_for` makes them.
- ``others``: more inputs, of other sizes; where both are left out, those for one row and for five.
- ``rtol``, ``atol``: how far numbers may be apart; without them as far as ``torch.testing.assert_close`` lets them,
  which for float64 is ``1e-7``.

It raises ``AssertionError`` with a sentence that says what is broken, where, and what to do, and ``TypeError`` where
``module`` is no ``GraphModule``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.fx.passes.infra.pass_base import PassResult
from torch.utils import _pytree as pytree

from fxbook.passes.likeness import difference, first_node, of_outcomes, values_of
from fxbook.passes.sharing import newly_shared
from fxbook.passes.trial import SEED, Pass, Trial, kept, modules_of, program, tensors_of

Invariant = Callable[..., None]
ALL: tuple[Invariant, ...] = ()
"""Every invariant, in the order in which they are asked: the first that is broken explains the most."""
_of: dict[Invariant, Callable[[Trial], str | None]] = {}


def _invariant(asked: Callable[[Trial], str | None]) -> Invariant:
    """Make of a question about a trial, answered by what is wrong, a function that readers call."""

    @functools.wraps(asked)
    def invariant(
        run: Pass,
        module: fx.GraphModule,
        inputs: Sequence[Any] | None = None,
        others: Sequence[Sequence[Any]] | None = None,
        rtol: float | None = None,
        atol: float | None = None,
    ) -> None:
        _ask(invariant, Trial(run, module, inputs, others, rtol, atol))

    # What wraps() copies tells of the question; what readers call has another signature.
    del invariant.__wrapped__
    invariant.__annotations__ = {"return": None}
    global ALL
    ALL = (*ALL, invariant)
    _of[invariant] = asked
    return invariant


def _ask(invariant: Invariant, trial: Trial) -> None:
    if said := _of[invariant](trial):
        raise AssertionError(f"{invariant.__name__}: {said}")


def check_pass(
    run: Pass,
    module: fx.GraphModule,
    inputs: Sequence[Any] | None = None,
    *,
    keep: Iterable[Invariant | str] | None = None,
    without: Iterable[Invariant | str] = (),
    others: Sequence[Sequence[Any]] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> Any:
    """Try a pass on a module, and ask what it must keep.

    Args:
        run: the pass: gets a ``GraphModule``, returns ``PassResult``, a ``GraphModule``, or ``None`` (edited in place).
        module: what it is tried on; the pass works on copies of it.
        inputs: what the module is run on; without it :func:`fxbook.inputs_for` makes them.
        keep: the invariants, or their names; without it all of them, ``invariants.ALL``.
        without: those that this pass need not keep: one that folds modules away drops names of ``state_dict``.
        others: more inputs, of other sizes; where both are left out, those for one row and for five.
        rtol: how far numbers may be apart, relatively; without it as ``torch.testing.assert_close`` has it.
        atol: the same, absolutely.

    Returns:
        What the pass returned.

    Raises:
        AssertionError: an invariant is broken; the message names it and says what is wrong, where, and what to do.
        TypeError: ``module`` is no ``GraphModule``, or the pass returns something else than a pass returns.
        ValueError: no invariant has a name that is given; the message lists them.

    Example:
        >>> import torch
        >>> from torch.fx.passes.infra.pass_base import PassResult
        >>> from fxbook import check_pass, random_graph
        >>> def nothing(module):
        ...     return PassResult(module, False)
        >>> check_pass(nothing, random_graph(7)).modified
        False
    """
    trial = Trial(run, module, inputs, others, rtol, atol)
    left_out = set(_chosen(without))
    for invariant in ALL if keep is None else _chosen(keep):
        if invariant not in left_out:
            _ask(invariant, trial)
    return trial.first.returned


def _chosen(asked: Iterable[Invariant | str]) -> list[Invariant]:
    by_name = {invariant.__name__: invariant for invariant in ALL}
    chosen = []
    for one in [asked] if isinstance(asked, str) or callable(asked) else asked:
        found = by_name.get(one if isinstance(one, str) else getattr(one, "__name__", ""))
        if found is None:
            raise ValueError(f"{one!r} is no invariant: they are {', '.join(by_name)}")
        chosen.append(found)
    return chosen


# ---- the graph -------------------------------------------------------------------------------------------------------


@_invariant
def lint(trial: Trial) -> str | None:
    """The graph that comes out is valid: ``graph.lint()`` says nothing, it has an output, and nothing stands behind it.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.lint(lambda module: module.graph.eliminate_dead_code(), random_graph(7))
        Traceback (most recent call last):
        TypeError: the pass returns bool: return PassResult(module, modified)
    """
    found = trial.recorded[1]
    if found.lint:
        return (
            f"{found.lint}; call module.graph.lint() before you return, and put a node behind the nodes that it reads"
        )
    if not found.nodes or all(node.op != "output" for node in found):
        return "the graph has no output: call graph.output(result)"
    if late := [node.name for node in found if "never runs: after the output" in node.notes]:
        return f"`{late[0]}` stands behind the output and never runs: insert before the output"
    return None


@_invariant
def code(trial: Trial) -> str | None:
    """``forward`` runs the graph that comes out: the module is recompiled.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.code(lambda module: None, random_graph(7))
    """
    if trial.recorded[1].stale:
        return "`forward` runs another program than the graph says: call module.recompile() before you return"
    return None


@_invariant
def no_dead_nodes(trial: Trial) -> str | None:
    """No node is left behind that nothing needs: there are no more of them than before.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.no_dead_nodes(lambda module: None, random_graph(7))
    """
    before, after = ([node for node in found if "dead" in node.notes] for found in trial.recorded)
    names = {node.name for node in before}
    # What takes the place of a node that was dead is dead, too.
    if len(after) > len(before):
        left = next(node for node in after if node.name not in names)
        return f"nothing uses `{left.name}` any more ({left.call}): erase a node once its users are gone"
    return None


@_invariant
def meta(trial: Trial) -> str | None:
    """A node that stays keeps its meta; a new one has the keys that all others had, and tells its shape right.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.meta(lambda module: None, random_graph(7))
    """
    ran = trial.first
    computing = [told for op, told in ran.nodes.values() if op not in ("placeholder", "output", "get_attr")]
    common = set.intersection(*(set(told) for told in computing)) if computing else set()
    for node in ran.after.graph.nodes:
        kept = ran.nodes.get(node.name)
        if kept is not None and kept[0] == node.op:
            if lost := sorted(set(kept[1]) - set(node.meta)):
                return f"`{node.name}` has lost meta[{lost[0]!r}]: a node in place of another gets a copy of its meta"
        elif node.op not in ("placeholder", "output", "get_attr") and (lacking := sorted(common - set(node.meta))):
            return (
                f"the new node `{node.name}` has no meta[{lacking[0]!r}], which every other node has: copy the meta of "
                "the node that it stands for, and correct what is different"
            )
    return _meta_untrue(trial)


def _meta_untrue(trial: Trial) -> str | None:
    """Whether what a node tells of its value differs from what the node computes, where it was true before."""
    told = {node.name: node.meta for node in trial.after.graph.nodes}
    if not any("tensor_meta" in one or "val" in one for one in told.values()):
        return None
    try:
        true_before = {
            node.name
            for node, value in zip(
                trial.before.graph.nodes, values_of(trial.before, trial.inputs).values(), strict=False
            )
            if _tells(node.meta, value) is None
        }
        values = values_of(trial.after, trial.inputs)
    except Exception:
        return None
    names_before = {node.name for node in trial.before.graph.nodes}
    for name, value in values.items():
        if name in names_before and name not in true_before:
            continue
        if said := _tells(told[name], value):
            return f"the meta of `{name}` tells {said}: correct it where a node computes something else than before"
    return None


def _tells(meta: dict[str, Any], value: Any) -> str | None:
    for key in ("tensor_meta", "val"):
        told = meta.get(key)
        if isinstance(value, Tensor) and hasattr(told, "shape") and hasattr(told, "dtype"):
            if tuple(told.shape) != tuple(value.shape):
                return f"the shape {tuple(told.shape)}, its value has {tuple(value.shape)}"
            if told.dtype != value.dtype:
                return f"the dtype {told.dtype}, its value has {value.dtype}"
    return None


# ---- what the module computes ----------------------------------------------------------------------------------------


@_invariant
def values(trial: Trial) -> str | None:
    """The module gives what it gave: structure, shapes, dtypes and numbers, and what it writes into inputs and buffers.

    Example:
        >>> import torch
        >>> from fxbook import invariants
        >>> def wrong(module):
        ...     for node in module.graph.nodes:
        ...         if node.target is torch.relu:
        ...             node.target = torch.tanh
        ...     module.recompile()
        >>> module = torch.fx.symbolic_trace(lambda x: torch.relu(x))
        >>> invariants.values(wrong, module, (torch.tensor([-1.0]),))
        Traceback (most recent call last):
        AssertionError: values: the result has other numbers: -0.761594 at [0], before: 0 (1 of 1 differ); the first ...
    """
    return _other_values(trial, trial.inputs)


@_invariant
def values_at_another_size(trial: Trial) -> str | None:
    """The same for inputs of other sizes: a number that the pass took from one input is no constant of the module.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.values_at_another_size(lambda module: None, random_graph(7))
    """
    for inputs in trial.others:
        if said := _other_values(trial, inputs):
            shapes = ", ".join(
                str(tuple(leaf.shape)) for leaf in pytree.tree_leaves(inputs) if isinstance(leaf, Tensor)
            )
            return f"with inputs of shape {shapes}, {said}: compute sizes in the graph, do not write them into it"
    return None


def _other_values(trial: Trial, inputs: Sequence[Any]) -> str | None:
    said = of_outcomes(*trial.outcomes(inputs), trial.rtol, trial.atol)
    if said is None:
        return None
    return said + first_node(trial.before, trial.after, inputs, trial.rtol, trial.atol)


@_invariant
def gradients(trial: Trial) -> str | None:
    """The result has the gradients that it had, for inputs, and for the parameters that both modules have.

    Where ``backward`` did not work before, nothing is asked.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.gradients(lambda module: None, random_graph(7))
    """
    try:
        before = _gradients(trial.before, trial.inputs)
    except Exception:
        return None
    try:
        after = _gradients(trial.after, trial.inputs)
    except Exception as error:
        said = str(error).strip().split("\n")[0][:200]
        return f"backward raises {type(error).__name__}: {said}; keep the operations that autograd can differentiate"
    for name, old in before.items():
        if name not in after:
            continue
        new = after[name]
        if (old is None) != (new is None):
            return (
                f"the result {'no longer depends' if new is None else 'now depends'} on {name}: backward gives it "
                + ("no gradient; look for detach, no_grad and .data" if new is None else "a gradient")
            )
        if old is not None and (said := difference(old, new, f"the gradient of {name}", trial.rtol, trial.atol)):
            return said
    return None


def _gradients(module: fx.GraphModule, inputs: Sequence[Any]) -> dict[str, Tensor | None]:
    """The gradients of a weighted sum of all results, by name; ``None`` where the result does not depend."""
    leaves: dict[str, Tensor] = {}

    def leaf(value: Tensor) -> Tensor:
        if not value.is_floating_point():
            return value.detach().clone()
        own = leaves[f"input {len(leaves)}"] = value.detach().clone().requires_grad_()
        # A module may write into its inputs, which no leaf allows.
        return own.clone()

    given = pytree.tree_map_only(Tensor, leaf, tuple(inputs))
    leaves |= {f"`{name}`": held for name, held in module.named_parameters() if held.requires_grad}
    with torch.enable_grad(), kept(module):
        result = module(*given)
        drawn = torch.Generator().manual_seed(SEED)
        parts = [part for part in pytree.tree_leaves(result) if isinstance(part, Tensor) and part.requires_grad]
        if not parts:
            return dict.fromkeys(leaves)
        weights = [torch.rand(part.shape, generator=drawn, dtype=torch.float64).to(part) + 0.5 for part in parts]
        found = torch.autograd.grad(parts, list(leaves.values()), weights, allow_unused=True)
    return dict(zip(leaves, found, strict=True))


@_invariant
def aliasing(trial: Trial) -> str | None:
    """A result shares memory with an input, a stored tensor or another result only where it did before.

    Otherwise ``y.add_(1)`` on a result changes ``x``, which it did not change before. A pass may return a copy where
    the module returned a view. Where a module raises, nothing is asked.

    Example:
        >>> import torch
        >>> from fxbook import invariants
        >>> def wrong(module):
        ...     for node in module.graph.find_nodes(op="call_method", target="clone"):
        ...         node.replace_all_uses_with(node.args[0])
        ...         module.graph.erase_node(node)
        ...     module.recompile()
        >>> module = torch.fx.symbolic_trace(lambda x: x.clone())
        >>> invariants.aliasing(wrong, module, (torch.ones(2),))
        Traceback (most recent call last):
        AssertionError: aliasing: the result shares memory with the input `x`, and did not before: a write ...
    """
    if any(one.error for one in trial.outcomes(trial.inputs)):
        return None
    found = next(newly_shared(trial.before, trial.after, trial.inputs), None)
    if found is None:
        return None
    return (
        f"the result{found.result} shares memory with {found.name}, and did not before: a write into one of them "
        "changes the other; leave the node that made the copy, or return a clone"
    )


# ---- what the pass was given -----------------------------------------------------------------------------------------


@_invariant
def purity(trial: Trial) -> str | None:
    """The pass changes the graph and nothing else: no tensor, no module that others hold, none of torch's modes.

    A weight may be replaced by another one, in the module that the pass was given; it may not be written into, and a
    module that is called may not get another one, for the model that was traced holds the same module.

    Example:
        >>> import torch
        >>> from fxbook import invariants
        >>> module = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(2, 2)))
        >>> def wrong(module):
        ...     module.get_submodule("0").weight.data.zero_()
        >>> invariants.purity(wrong, module, (torch.ones(1, 2),))
        Traceback (most recent call last):
        AssertionError: purity: the weight `0.weight` holds other values: it is written into, not replaced; work on ...
    """
    besides = trial.first.besides
    return f"{besides[0]}; work on a copy, and put back what you switch" if besides else None


@_invariant
def inputs_kept(trial: Trial) -> str | None:
    """The inputs are called as before, in the same order, with the same defaults.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.inputs_kept(lambda module: None, random_graph(7))
    """
    before, after = (
        [(node.target, node.args) for node in module.graph.nodes if node.op == "placeholder"]
        for module in (trial.before, trial.after)
    )
    if before == after:
        return None
    old, new = (", ".join(_signature(*one) for one in found) for found in (before, after))
    return f"the module takes ({new}), before: ({old}); callers pass inputs by name, so keep each placeholder"


def _signature(target: Any, default: tuple[Any, ...]) -> str:
    return f"{target}={default[0]!r}" if default else str(target)


@_invariant
def state_kept(trial: Trial) -> str | None:
    """``state_dict`` has the names that it had, so that a checkpoint can still be loaded.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.state_kept(lambda module: None, random_graph(7))
    """
    before, after = set(trial.before.state_dict()), set(trial.after.state_dict())
    if lost := sorted(before - after):
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        return f"state_dict has lost `{lost[0]}`{more}: keep the names, or document that checkpoints no longer fit"
    if new := sorted(after - before):
        return f"state_dict has a new name `{new[0]}`: register what can be computed with persistent=False"
    return None


@_invariant
def modes(trial: Trial) -> str | None:
    """Each module trains or not as before, and each parameter asks for its gradient as before.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.modes(lambda module: module.train() and None, random_graph(7))
        Traceback (most recent call last):
        AssertionError: modes: the module is now in training mode: call train(...) with the mode that you found
    """
    before, after = (dict(module.named_modules()) for module in (trial.before, trial.after))
    for path, now in after.items():
        # What GraphModule makes of a nested path is a plain module: nothing reads its mode.
        if type(now) is not nn.Module and path in before and before[path].training != now.training:
            name = f"`{path}`" if path else "the module"
            mode = "training" if now.training else "eval"
            return f"{name} is now in {mode} mode: call train(...) with the mode that you found"
    old = dict(trial.before.named_parameters())
    for name, now in trial.after.named_parameters():
        if name in old and old[name].requires_grad != now.requires_grad:
            return f"`{name}` now has requires_grad={now.requires_grad}: a new parameter takes it from the old one"
    return None


# ---- the pass as a program -------------------------------------------------------------------------------------------


@_invariant
def modified(trial: Trial) -> str | None:
    """The pass returns ``PassResult``, and ``modified`` is true exactly if something changed.

    A change of meta alone may be told either way.

    Example:
        >>> from torch.fx.passes.infra.pass_base import PassResult
        >>> from fxbook import invariants, random_graph
        >>> invariants.modified(lambda module: PassResult(module, True), random_graph(7))
        Traceback (most recent call last):
        AssertionError: modified: the pass says that it changed something, and nothing is changed: count your changes
    """
    ran = trial.first
    if not isinstance(ran.returned, PassResult):
        kind = "None" if ran.returned is None else type(ran.returned).__name__
        return f"the pass returns {kind}: return PassResult(module, modified), so that a caller knows when to stop"
    if not isinstance(ran.returned.modified, bool):
        return f"`modified` is {ran.returned.modified!r}: give True or False"
    what = _changed(trial.before, ran.after)
    if what and not ran.returned.modified:
        return f"the pass says that it changed nothing, and {what}: set modified where you change something"
    if not what and ran.returned.modified and not _meta_changed(trial):
        return "the pass says that it changed something, and nothing is changed: count your changes"
    return None


def _changed(before: fx.GraphModule, after: fx.GraphModule) -> str | None:
    """What differs between two modules: nodes, modules, tensors."""
    old, new = program(before), program(after)
    if old != new:
        names = [node[0] for node in new if node not in old] + [node[0] for node in old if node not in new]
        return f"the graph differs at `{names[0]}`" if names else "the order of the graph differs"
    was, now = modules_of(before), modules_of(after)
    if was != now:
        path = sorted(set(was.items()) ^ set(now.items()))[0][0]
        return f"the module `{path}` differs"
    held, holds = tensors_of(before), tensors_of(after)
    for name in (*held, *holds):
        if name not in held or name not in holds or difference(held[name].detach(), holds[name].detach(), "", 0, 0):
            return f"the weight `{name}` differs"
    return None


def _meta_changed(trial: Trial) -> bool:
    now = {node.name: (node.op, node.meta) for node in trial.after.graph.nodes}
    return repr(now) != repr(trial.first.nodes)


@_invariant
def idempotence(trial: Trial) -> str | None:
    """A second run changes nothing, and says so.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.idempotence(lambda module: None, random_graph(7))
    """
    once, twice = trial.first.after, trial.twice
    if what := _changed(once, twice.after):
        return f"a second run changes the module again, {what}: repeat inside the pass until nothing changes"
    if isinstance(twice.returned, PassResult) and twice.returned.modified:
        return "a second run changes nothing and says that it did: who repeats it until `modified` is false never ends"
    return None


@_invariant
def determinism(trial: Trial) -> str | None:
    """Two runs on equal modules give equal programs and weights.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.determinism(lambda module: None, random_graph(7))
    """
    if what := _changed(trial.first.after, trial.second.after):
        return f"two runs on equal modules differ, {what}: go through nodes in list order, not through a set or by id()"
    return None


@_invariant
def no_retrace(trial: Trial) -> str | None:
    """The pass does not trace the module again: what tracing cannot see would be lost. It may trace a pattern.

    Example:
        >>> import torch
        >>> from fxbook import invariants
        >>> module = torch.fx.symbolic_trace(lambda x: torch.relu(x))
        >>> invariants.no_retrace(torch.fx.symbolic_trace, module, (torch.ones(2),))
        Traceback (most recent call last):
        AssertionError: no_retrace: the pass traces the module again, with Tracer.trace: edit the nodes that are there
    """
    if traced := trial.first.traced:
        return f"the pass traces the module again, with {traced[0]}: edit the nodes that are there"
    return None


__all__ = ["ALL", "check_pass", *(invariant.__name__ for invariant in ALL)]
