"""What a pass must keep: each invariant as a function that raises where a pass breaks it.

All are called alike, ``invariants.values(run, module, inputs)``, and leave ``module`` and ``inputs`` as they are: a
pass runs on copies. :func:`check_pass` asks all of them, and gives one report.

Every function takes:

- ``run``: the pass, a callable that gets a ``GraphModule`` and returns ``PassResult(module, modified)``, a
  ``GraphModule``, or ``None`` where it has edited the module in place. For one over a ``Graph``, as Inductor's are,
  see :func:`over_graph`.
- ``module``: what it is tried on, a ``GraphModule``; or an ``ExportedProgram``, if the pass gets one and returns one.
- ``inputs``, ``kwargs``: what the module is run on; without them :func:`fxbook.inputs_for` makes them.
- ``others``: more inputs, of other sizes; where there are none, the inputs get one row, and five.
- ``rtol``, ``atol``: how far numbers may be apart; without them as far as ``torch.testing.assert_close`` lets them,
  which for float64 is ``1e-7``.

It raises an ``AssertionError`` of a class of its own, ``invariants.error_of("values")``, with a sentence that says what
is broken, where, and what to do; and ``NotAskedError``, a ``ValueError``, where it cannot be asked of this module.
"""

from fxbook.passes.asking import Invariant, NotAskedError
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
"""Every invariant, in the order in which they are asked: the first that is broken explains the most."""

from fxbook.passes.checking import check_pass, over_graph  # noqa: E402  It asks ALL.

__all__ = [
    "ALL",
    "InvariantError",
    "NotAskedError",
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
