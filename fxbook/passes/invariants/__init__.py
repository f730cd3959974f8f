"""What a pass must preserve: each invariant is a function that raises an error if a pass breaks it.

All have the same signature, ``invariants.values(run, module, inputs)``, and do not change ``module`` or ``inputs``,
because the pass runs on copies. :func:`check_pass` checks all of them and returns one report.

Every function takes:

- ``run``: the pass, a callable that takes a ``GraphModule`` and returns ``PassResult(module, modified)``, a
  ``GraphModule``, or ``None`` if it edits in place. For a pass over a ``Graph``, as in Inductor, see
  :func:`over_graph`.
- ``module``: the module to run it on, or an ``ExportedProgram`` if the pass takes one and returns one.
- ``inputs``, ``kwargs``: inputs of the module; by default, those from :func:`fxbook.inputs_for`.
- ``others``: more inputs, of different sizes; by default derived from ``inputs``.
- ``rtol``, ``atol``: tolerances; by default those of ``torch.testing.assert_close``, ``1e-7`` for float64.

It raises its own subclass of ``AssertionError``, ``invariants.error_of("values")``, whose message says what is broken,
where, and what to do. If the invariant cannot be checked here, it raises ``NotCheckedError``, a ``ValueError``.
"""

from fxbook.passes.asking import Invariant, NotCheckedError
from fxbook.passes.invariants.of_effects import effects
from fxbook.passes.invariants.of_gradients import gradients
from fxbook.passes.invariants.of_graph import code, inputs_kept, lint, meta, no_dead_nodes
from fxbook.passes.invariants.of_other_conditions import values_in_another_mode, values_of_other_numbers
from fxbook.passes.invariants.of_results import (
    aliasing,
    values,
    values_at_another_size,
)
from fxbook.passes.invariants.of_runs import determinism, idempotence, modified, no_retrace, runs
from fxbook.passes.invariants.of_state import modes, purity, state_kept
from fxbook.passes.report import InvariantError, error_of

ALL: tuple[Invariant, ...] = (
    runs,
    values,
    values_at_another_size,
    values_of_other_numbers,
    values_in_another_mode,
    effects,
    gradients,
    aliasing,
    lint,
    code,
    inputs_kept,
    modes,
    state_kept,
    purity,
    determinism,
    meta,
    no_dead_nodes,
    idempotence,
    modified,
    no_retrace,
)
"""Every invariant, in the order of the checks: usually, the first broken one explains the most."""

from fxbook.passes.checking import check_pass, over_graph  # noqa: E402  It imports ALL.

__all__ = [
    "ALL",
    "InvariantError",
    "NotCheckedError",
    "aliasing",
    "check_pass",
    "code",
    "determinism",
    "effects",
    "error_of",
    "gradients",
    "idempotence",
    "inputs_kept",
    "lint",
    "meta",
    "modes",
    "modified",
    "no_dead_nodes",
    "no_retrace",
    "over_graph",
    "purity",
    "runs",
    "state_kept",
    "values",
    "values_at_another_size",
    "values_in_another_mode",
    "values_of_other_numbers",
]
