"""Run a pass on a module and check everything it must preserve."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from torch import fx
from torch.export import ExportedProgram
from torch.fx.passes.infra.pass_base import PassResult

from fxbook.passes.asking import Answer, Invariant, answered
from fxbook.passes.changes import changed, changes
from fxbook.passes.outcome import apart_from_caller, shared_copy
from fxbook.passes.pass_run import Pass
from fxbook.passes.report import Changes, Finding, PassReport
from fxbook.passes.trial import Trial

_IF_NOT_CHECKED = {"values": 'return tensors, or leave it out, with without=["values"]'}


def check_pass(
    run: Pass,
    module: fx.GraphModule | ExportedProgram,
    inputs: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    keep: Iterable[Invariant | str] | None = None,
    without: Iterable[Invariant | str] = (),
    others: Sequence[Sequence[Any]] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> PassReport:
    """Run a pass on a module and check everything it must preserve.

    Args:
        run: the pass. It takes a ``GraphModule`` and returns ``PassResult``, a ``GraphModule``, or ``None`` (edited in
            place). If it takes a ``Graph``, pass ``over_graph(run)``. If it takes an exported program, it returns one.
        module: the module to run it on; the pass gets copies. In a backend of ``torch.compile``, this is the graph
            module, whose inputs may include fake tensors and sizes.
        inputs: positional inputs of the module; by default, those from :func:`fxbook.inputs_for`.
        kwargs: keyword inputs of the module.
        keep: invariants, or their names, that must hold; by default all are checked (``invariants.ALL``). If you
            name an invariant here, a broken convention is a fault, and so is an invariant that cannot be checked.
            If ``values`` cannot be checked, that is always a fault, unless you leave it out.
        without: invariants that this pass need not preserve.
        others: more inputs, of different sizes; by default derived from ``inputs`` where the graph allows it.
        rtol: relative tolerance; by default that of ``torch.testing.assert_close``.
        atol: absolute tolerance, likewise.

    Returns:
        A report, which is true if there is no fault. ``report.require()`` raises an error if there is a fault, and
        ``report.result`` is what the pass returned.

    Raises:
        TypeError: there is no graph, the inputs are not a tuple, a tolerance is not a number, or the pass returns
            something that a pass cannot return.
        ValueError: the module itself does not run on the inputs or on ``others``, or a name in ``keep`` or ``without``
            is not that of an invariant.

    Example:
        >>> import torch
        >>> from torch.fx.passes.infra.pass_base import PassResult
        >>> from fxbook import check_pass, random_graph
        >>> def nothing(module):
        ...     return PassResult(module, False)
        >>> report = check_pass(nothing, random_graph(7)).require()
        >>> report.result.modified
        False
    """
    from fxbook.passes.invariants import ALL, runs, values

    left_out = set(_chosen(without))
    asked = [one for one in (ALL if keep is None else _chosen(keep)) if one not in left_out]
    with apart_from_caller():
        trial = Trial(run, module, inputs, kwargs, others=others, rtol=rtol, atol=atol)
        trial.may_change_values = values in left_out
        # A pass that raises is always reported.
        answers = {runs.__name__: answered(runs, trial)}
        answers |= {one.__name__: answered(one, trial) for one in asked if one is not runs}
        return _report(run, trial, answers, demanded=keep is not None)


def _report(run: Pass, trial: Trial, answers: dict[str, Answer], *, demanded: bool) -> PassReport:
    raised = answers["runs"].finding
    if raised is not None:
        why: dict[str, int | str] = dict.fromkeys(answers, "the pass raises")
        return PassReport(_name(run), None, (raised,), (), why | {"runs": 1}, Changes(), answers["runs"].cause)
    faults, advice = [], []
    for name, answer in answers.items():
        if answer.finding is not None:
            (advice if answer.advice and not demanded else faults).append(answer.finding)
        elif isinstance(answer.checked_on, str) and (demanded or name == "values"):
            # If the results cannot be compared, it is unknown whether the module is still right.
            faults.append(Finding(name, f"was not checked: {answer.checked_on}", cure=_IF_NOT_CHECKED.get(name, "")))
    advice += [Finding(name, f"not compared: {what}") for what, name in trial.not_compared.items()]
    much = changes(trial.before, trial.after)
    if not much and changed(trial.before, trial.after) is None:
        said = "the pass changed nothing, so nothing was put to the test"
        advice.append(Finding("changes", said, cure="give a module to which the pass applies"))
    told = {name: answer.checked_on for name, answer in answers.items()}
    return PassReport(_name(run), trial.first.returned, tuple(faults), tuple(advice), told, much)


def _name(run: Any) -> str:
    return getattr(run, "__name__", None) or type(run).__name__


def _chosen(asked: Iterable[Invariant | str] | Invariant | str) -> list[Invariant]:
    from fxbook.passes.invariants import ALL

    by_name = {invariant.__name__: invariant for invariant in ALL}
    chosen = []
    for one in [asked] if isinstance(asked, str) or callable(asked) else asked:
        found = by_name.get(one if isinstance(one, str) else getattr(one, "__name__", ""))
        if found is None:
            raise ValueError(f"{one!r} is not an invariant; the invariants are {', '.join(by_name)}")
        chosen.append(found)
    return chosen


def over_graph(run: Callable[[fx.Graph], Any]) -> Callable[[fx.GraphModule], PassResult]:
    """Turn a pass over a ``Graph``, as in Inductor, into one that :func:`check_pass` takes.

    The return value of ``run`` is ignored. As in Inductor, the module is recompiled after the pass.

    Example:
        >>> import torch
        >>> from fxbook import check_pass, invariants, random_graph
        >>> def nothing(graph):
        ...     graph.lint()
        >>> bool(check_pass(invariants.over_graph(nothing), random_graph(7)))
        True
    """

    @functools.wraps(run, updated=())
    def over_module(module: fx.GraphModule) -> PassResult:
        before = shared_copy(module)
        run(module.graph)
        module.recompile()
        return PassResult(module, changed(before, module) is not None)

    # functools.wraps cannot copy a name from a callable object.
    over_module.__name__ = _name(run)
    del over_module.__wrapped__
    return over_module
