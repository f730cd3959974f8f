"""The invariants on what the module computes: values, also for other sizes, and the memory of results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fxbook.passes.asking import NotCheckedError, Told, invariant
from fxbook.passes.branches import conds_of, other_branches, ways_through
from fxbook.passes.calling import shapes
from fxbook.passes.likeness import difference, first_node, of_outcomes
from fxbook.passes.outcome import one_line, outcome
from fxbook.passes.sharing import newly_shared
from fxbook.passes.trial import Trial
from fxbook.passes.varying import varied

_FIRST = ("with every other sign flipped", "with other whole numbers")


@invariant
def values(trial: Trial) -> Told | None:
    """The result (structure, shapes, dtypes, values) is the same, and so are the writes into inputs and buffers.

    This is also checked in a later call, for the branches of ``torch.cond`` that the inputs do not take, and with the
    initial values that :class:`Trial` replaces.

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
        fxbook.passes.report.ValuesError: values: the result has different numbers: -0.761594 at [0] instead of 0 ...
    """
    skipped: list[str] = []
    asks = (
        lambda _: _other_values(trial, trial.inputs, skipped),
        _in_other_branches,
        _in_a_later_call,
        _on_initial_values,
    )
    if told := next(filter(None, (ask(trial) for ask in asks)), None):
        return told
    if skipped:
        what = " and ".join(dict.fromkeys(skipped))
        raise NotCheckedError(f"{what} cannot be compared: it has no numbers, or its class has no `==`")
    return None


def _in_other_branches(trial: Trial) -> Told | None:
    """Whether a branch of `torch.cond` that these inputs do not take gives a different result."""
    old, new = conds_of(trial.before), conds_of(trial.after)
    if not old or len(old) != len(new):
        return None
    name = new[0].name
    for way in ways_through(trial.before):
        try:
            before = other_branches(trial.before, trial.inputs, way)
        except Exception as error:
            trial.leave_out(
                f"the branches that these inputs do not take: the module raises {one_line(error)}", "values"
            )
            continue
        try:
            after = other_branches(trial.after, trial.inputs, way)
        except Exception as error:
            return Told(
                f"in the branches that these inputs do not take, the module raises {one_line(error)}", node=name
            )
        said = difference(before, after, "the result of the branches that are not taken", trial.rtol, trial.atol)
        if said:
            return Told(said, "edit a branch as carefully as the graph: other inputs take it", name)
    return None


def _on_initial_values(trial: Trial) -> Told | None:
    """Whether the pass is wrong for zeros and ones that it finds in a fresh module, as when it divides by them."""
    if trial.on_initial_values is None:
        return None
    before, after = (outcome(module, trial.inputs) for module in trial.on_initial_values)
    said = of_outcomes(before, after, max(trial.rtol or 0, 1e-3), max(trial.atol or 0, 1e-4))
    cure = "look for a division by a weight, and keep nothing from one run to the next"
    return Told(f"with the initial values, which the other checks replace, {said}", cure) if said else None


def _in_a_later_call(trial: Trial) -> Told | None:
    """Whether an earlier call affects a later one differently than before."""
    firsts = {"in a second call, ": trial.inputs}
    firsts |= {f"in a call after one {words}, ": one for words, one in varied(trial.inputs, _FIRST)}
    for words, first in firsts.items():
        before, after = (outcome(module, trial.inputs, first=first) for module in (trial.before, trial.after))
        if said := of_outcomes(before, after, trial.rtol, trial.atol):
            return Told(words + said, "compute it in each call, as the module did")
    return None


@invariant
def values_at_another_size(trial: Trial) -> Told | None:
    """The values are also the same for inputs of other sizes: no size that the pass saw is hard-coded.

    If no ``others`` are given, all inputs get one row, then five, and then other sizes in each further dimension, if
    the graph leaves them open and the module runs. The result must also stay the same for no rows, and for one row in a
    single input, which broadcasts; if the module now raises there, that is advice. Any difference for inputs that all
    have one more dimension is also advice.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.values_at_another_size(lambda module: None, random_graph(7))
    """
    if not trial.others:
        raise NotCheckedError(trial.why_no_others)
    trial.checked_on = len(trial.others)
    advice = None
    for inputs, usual, deeper in trial.others:
        if told := _other_values(trial, inputs):
            broken_anyway = _other_values(trial, trial.inputs) is not None
            cure = "" if broken_anyway else "compute sizes in the graph, do not hard-code them"
            raises = told.what.startswith("the module raises")
            cure = "read the number of dimensions from the meta of a node, or allow any number" if deeper else cure
            seldom = deeper or (raises and not usual)
            said = Told(f"with inputs of shape {shapes(inputs)}, {told.what}", cure, told.node, seldom)
            if not said.advice:
                return said
            advice = advice or said
    return advice


def _other_values(trial: Trial, inputs: Sequence[Any], skipped: list[str] | None = None) -> Told | None:
    said = of_outcomes(*trial.outcomes(inputs), trial.rtol, trial.atol, skipped)
    if said is None:
        return None
    first = first_node(trial.before, trial.after, inputs, trial.rtol, trial.atol)
    cure = ""
    if trial.shaken:
        more = f" and {len(trial.shaken) - 1} more" if len(trial.shaken) > 1 else ""
        cure = f"initial values can hide faults, so those of `{trial.shaken[0]}`{more} were replaced"
    return Told(said + first, cure, first.split("`")[1] if first else "")


@invariant
def aliasing(trial: Trial) -> Told | None:
    """A result shares memory with an input, a stored tensor or another result only if it did before.

    Otherwise ``y.add_(1)`` on a result changes ``x``, which it did not before. A pass may return a copy if the
    module returned a view.

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
        fxbook.passes.report.AliasingError: aliasing: the result shares memory with the input `x`, and did ...
    """
    if (error := trial.outcomes(trial.inputs)[1].error) is not None:
        raise NotCheckedError(f"the returned module raises {one_line(error)}")
    found = next(newly_shared(trial.before, trial.after, trial.inputs), None)
    if found is None:
        return None
    return Told(
        f"the result{found.result} shares memory with {found.name}, and did not before: a write into one of them "
        "changes the other",
        "keep the node that made the copy, or return a clone",
    )
