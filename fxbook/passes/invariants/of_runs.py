"""The invariants on the pass itself: it returns, reports changes, is deterministic, and does not retrace."""

from __future__ import annotations

from torch import fx

from fxbook.passes.asking import NotCheckedError, Told, invariant
from fxbook.passes.changes import changed
from fxbook.passes.likeness import of_outcomes
from fxbook.passes.outcome import is_finite, shared_copy
from fxbook.passes.pass_run import PassRaisedError
from fxbook.passes.trial import Trial


@invariant
def runs(trial: Trial) -> Told | None:
    """The pass raises no error. This is always checked, since otherwise nothing else can be checked.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.runs(lambda module: 1 / 0, random_graph(7))
        Traceback (most recent call last):
        fxbook.passes.report.RunsError: runs: the pass raises ZeroDivisionError: division by zero
    """
    assert trial.first
    return None


@invariant
def modified(trial: Trial) -> Told | None:
    """By convention, the pass returns ``PassResult``, with ``modified`` true if and only if something changed.

    If only meta changed, either value is accepted.

    Example:
        >>> from torch.fx.passes.infra.pass_base import PassResult
        >>> from fxbook import invariants, random_graph
        >>> invariants.modified(lambda module: PassResult(module, True), random_graph(7))
        Traceback (most recent call last):
        fxbook.passes.report.ModifiedError: modified: the pass says that it changed something, but nothing is ...
    """
    returned = trial.first.returned
    if not hasattr(returned, "modified"):
        if trial.first.made is not trial.after:
            raise NotCheckedError("a pass over an ExportedProgram does not say")
        kind = "None" if returned is None else type(returned).__name__
        made = "fx.GraphModule(module, graph)" if isinstance(returned, fx.Graph) else "module"
        cure = f"return PassResult({made}, modified), so that a caller knows when to stop"
        return Told(f"the pass returns {kind}", cure, advice=True)
    if not isinstance(returned.modified, bool):
        return Told(f"`modified` is {returned.modified!r}", "give True or False", advice=True)
    what = changed(trial.before, trial.after)
    if what and not returned.modified:
        said = f"the pass says that it changed nothing, but {what}"
        return Told(said, "set modified where you change something", advice=True)
    if not what and returned.modified and not _meta_changed(trial):
        said = "the pass says that it changed something, but nothing is changed"
        return Told(said, "count your changes", advice=True)
    return None


def _meta_changed(trial: Trial) -> bool:
    now = {node.name: (node.op, node.meta) for node in trial.after.graph.nodes}
    return repr(now) != repr(trial.first.nodes)


@invariant
def idempotence(trial: Trial) -> Told | None:
    """By convention, a second run changes nothing and says so. A pass that splits or wraps cannot follow this.

    New names alone do not count as a change.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.idempotence(lambda module: None, random_graph(7))
    """
    try:
        again = trial.first and trial.twice
        # The copy for the second run is made by copy.deepcopy, which drops what the graph does not use.
        what = changed(shared_copy(trial.after), again.after)
        says_so = getattr(again.returned, "modified", False) is True
        del again
    except PassRaisedError as raised:
        if not raised.again:
            raise
        return Told(str(raised), "leave alone what the pass has made", advice=True)
    finally:
        trial.drop("twice")
    if what:
        said = f"a second run changes the module again, {what}"
        return Told(said, "repeat inside the pass until nothing changes", advice=True)
    if says_so:
        said = "a second run changes nothing but says that it did"
        return Told(said, "a loop until `modified` is false never ends: count your changes", advice=True)
    return None


@invariant
def determinism(trial: Trial) -> Told | None:
    """Runs on equal modules give equal programs and weights; a run on one with other weights keeps its values.

    The latter is checked for passes that keep the values, on modules with at most 4 MB of weights and 400 nodes.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.determinism(lambda module: None, random_graph(7))
    """
    try:
        what = changed(trial.after, trial.second.after, names=True)
    except PassRaisedError as raised:
        if not raised.again:
            raise
        return Told(str(raised), "keep nothing from one run to the next")
    finally:
        trial.drop("second")
    if what:
        cure = "go through nodes in list order, not in the order of a set or of id()"
        return Told(f"two runs on equal modules differ, {what}", cure)
    return _kept_from_another(trial)


def _kept_from_another(trial: Trial) -> Told | None:
    """Whether a run on a module with other weights reuses something from earlier runs."""
    limits = (max(trial.rtol or 0, 1e-3), max(trial.atol or 0, 1e-4))
    if trial.may_change_values or of_outcomes(*trial.outcomes(trial.inputs), *limits) is not None:
        return None
    try:
        outcomes = trial.on_other_weights()
    except PassRaisedError as raised:
        return Told(str(raised), "keep nothing from one run to the next", advice=True)
    said = of_outcomes(*outcomes, *limits) if outcomes and is_finite(outcomes[0]) else None
    cure = "keep nothing from one run to the next, such as weights by name; or the first weights hide a fault"
    return Told(f"in a run on an equal module with other weights, {said}", cure) if said else None


@invariant
def no_retrace(trial: Trial) -> Told | None:
    """The pass does not retrace the module, which would lose what tracing cannot see. It may trace a pattern.

    This is a convention, since some modules lose nothing when they are traced again.

    Example:
        >>> import torch
        >>> from fxbook import invariants
        >>> module = torch.fx.symbolic_trace(lambda x: torch.relu(x))
        >>> invariants.no_retrace(torch.fx.symbolic_trace, module, (torch.ones(2),))
        Traceback (most recent call last):
        fxbook.passes.report.NoRetraceError: no_retrace: the pass traces the module again, with Tracer.trace; edit ...
    """
    if traced := trial.first.traced:
        said = f"the pass traces the module again, with {traced[0]}"
        return Told(said, "edit the nodes that are there", advice=True)
    return None
