"""The invariant on effects of a module other than its result."""

from __future__ import annotations

from fxbook.passes.asking import Told, invariant
from fxbook.passes.effects import gone, left_otherwise, no_longer_refused
from fxbook.passes.trial import Trial


@invariant
def effects(trial: Trial) -> Told | None:
    """The module still rejects the same inputs, and its hooks and calls with side effects still run, in order.

    Modules still record in their attributes what they recorded before the pass. A warning that appears only after the
    pass is reported as advice.

    Example:
        >>> import torch
        >>> from fxbook import invariants
        >>> def checked(x):
        ...     torch._assert(x.shape[0] > 1, "one row only")
        ...     return x.relu()
        >>> def wrong(module):
        ...     [check] = module.graph.find_nodes(op="call_function", target=torch._assert)
        ...     module.graph.erase_node(check)
        ...     module.graph.eliminate_dead_code()
        ...     module.recompile()
        >>> invariants.effects(wrong, torch.fx.symbolic_trace(checked), (torch.ones(2),))
        Traceback (most recent call last):
        fxbook.passes.report.EffectsError: effects: the check `_assert` is gone: inputs that the module refused now ...
    """
    found = gone(trial.before, trial.after)
    if not found or found[0].advice:
        found += filter(None, [no_longer_refused(trial.before, trial.after, trial.inputs)])
        found += left_otherwise(trial.before, trial.after, trial.inputs)
    return Told(*min(found, key=lambda one: one.advice)) if found else None
