"""A pass, the module and inputs that it is tried on, and the results of the runs."""

from __future__ import annotations

import copy
import functools
import gc
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from torch import fx
from torch.export import ExportedProgram

from fxbook.graph.record import GraphRecord, record
from fxbook.passes.calling import Inputs, checked, shapes
from fxbook.passes.growing.inputs import inputs_for
from fxbook.passes.outcome import (
    SEED,
    Outcome,
    keep_for_each_other,
    kept,
    one_line,
    outcome,
    shared_copy,
    tensors_of,
)
from fxbook.passes.pass_run import Pass, PassRaisedError, Ran, Tried, graph_of, ran
from fxbook.passes.resizing import Resized, other_sizes
from fxbook.passes.shaking import shake, with_other_numbers

_MUCH = 2**22
"""The number of bytes of weights above which collecting garbage is worthwhile and another copy is expensive."""

_MANY_NODES = 400


class Trial:
    """A pass, the module and inputs that it is tried on, and the results; each run happens once, on first access.

    Attributes:
        before: the module before any pass: its graph and modules are copies, and its tensors are shared, except for
            initial values, which are replaced.
        inputs: the positional inputs, with keyword inputs in ``inputs.kwargs``; ``calling.call`` passes both.
        may_change_values: whether the pass is exempt from keeping the values.
        checked_on: on how many inputs the current invariant is checked; the invariant sets this if it is not 1.
        as_given: the module, or the program, with its initial values.
        shaken: the names of the tensors whose initial values were replaced.
        not_compared: what could not be compared, in words, with the name of the invariant.
    """

    def __init__(
        self,
        run: Pass,
        module: Tried,
        inputs: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        *,
        others: Sequence[Sequence[Any]] | None = None,
        rtol: float | None = None,
        atol: float | None = None,
    ) -> None:
        """Run the module on the inputs, but not yet the pass.

        Raises:
            TypeError: there is no graph, or the inputs are not a tuple; the message says what to pass.
            ValueError: the module does not run on the inputs.
        """
        self.run, self.given, self.as_given = _function(run), module, module
        self.module = graph_of(module)
        self.inputs_given = inputs is not None or bool(kwargs)
        drawn = (() if inputs is None else inputs) if self.inputs_given else inputs_for(self.module)
        self.inputs = checked(drawn, kwargs)
        self._others = None if others is None else [self._other(one) for one in others]
        for name, limit in (("rtol", rtol), ("atol", atol)):
            if not (limit is None or (isinstance(limit, numbers.Real) and limit >= 0)):
                raise TypeError(f"{name} is {limit!r}: give a number that is not negative, or None")
        self.rtol, self.atol = rtol, atol
        self.may_change_values = False
        self.checked_on = 1
        self._runs = 0
        self.shaken: list[str] = []
        self.not_compared: dict[str, str] = {}
        if (error := self._prepared()) is not None:
            which = (
                "the inputs" if self.inputs_given else "inputs that were drawn for it: give `inputs` that it accepts"
            )
            raise ValueError(
                f"the module itself does not run on {which}. Shapes: {shapes(self.inputs)}. It raises "
                f"{type(error).__name__}: {str(error).strip()[:500]}"
            ) from error
        for one in self._others or ():
            if (error := outcome(self.before, one).error) is not None:
                which = f"`others` of the shapes {shapes(one)}"
                raise ValueError(f"the module itself does not run on {which}. It raises {one_line(error)}") from error

    def _prepared(self) -> Exception | None:
        """Make `before`, with initial values replaced unless it then raises; return its error on the old values."""
        self.before = shared_copy(self.module)
        if fresh := shake(self.before):
            if outcome(self.before, self.inputs).error is None:
                self.given = self.before if self.given is self.module else _with_numbers(self.given, self.before)
                self.module, self.shaken = self.before, fresh
                return None
            self.before = shared_copy(self.module)
        return outcome(self.before, self.inputs).error

    def _other(self, inputs: Sequence[Any]) -> Inputs:
        kwargs = getattr(inputs, "kwargs", None) or self.inputs.kwargs
        return checked(Inputs(checked(inputs, None, "others"), kwargs))

    @functools.cached_property
    def others(self) -> list[Resized]:
        """Inputs of different sizes on which the module runs: the given ones, or variants in all open dimensions."""
        if self._others is not None:
            return [Resized(one) for one in self._others]
        found: list[Resized] = []
        whys: list[str] = []
        for one in other_sizes(self.module, self.inputs, drawn=not self.inputs_given):
            if isinstance(one, str):
                whys.append(one)
            elif (error := outcome(self.before, one.inputs).error) is None:
                found.append(one)
            elif one.usual:
                whys.append(f"sizes are fixed: with {shapes(one.inputs)} the module raises {one_line(error)}")
        self.why_no_others = next(iter(whys), "the module takes no other sizes")
        return found

    why_no_others = "none were given"

    @functools.cached_property
    def recorded(self) -> tuple[GraphRecord, GraphRecord]:
        return record(self.before), record(self.after)

    @functools.cached_property
    def first(self) -> Ran:
        """The run of the pass on the module."""
        made = self._ran(self.given)
        keep_for_each_other(self.before, made.after)
        return made

    @functools.cached_property
    def second(self) -> Ran:
        """The run of the pass on an equal module. The caller must drop it: it may hold a copy of all weights."""
        return self._in_memory_of(self.before, self.given, "on an equal module")

    @functools.cached_property
    def twice(self) -> Ran:
        """A run of the pass on its own result. Drop it after use, like ``second``."""
        return self._in_memory_of(self.after, self.first.made, "on its own result")

    @functools.cached_property
    def is_small(self) -> bool:
        """Whether another copy is cheap: there are at most 4 MB of weights and 400 nodes."""
        weights = sum(held.nbytes for held in tensors_of(self.before).values())
        return weights <= _MUCH and len(self.before.graph.nodes) <= _MANY_NODES

    def on_other_weights(self) -> tuple[Outcome, Outcome] | None:
        """The outcomes of a copy of the module with different tensor values, before the pass and after it.

        ``None`` if a copy is expensive.
        """
        held = tensors_of(self.before)
        if not held or not self.is_small:
            return None
        [other] = with_other_numbers([self.before], held)
        made = self._ran(other if self.given is self.module else _with_numbers(self.given, other), "on other weights")
        return outcome(other, self.inputs), outcome(made.after, self.inputs)

    @functools.cached_property
    def on_initial_values(self) -> tuple[fx.GraphModule, fx.GraphModule] | None:
        """The module with its initial values, before the pass and after it.

        ``None`` if they were not replaced, if a copy is expensive, or if the pass raises, as some do in a second run.
        """
        if not self.shaken or not self.is_small:
            return None
        try:
            return shared_copy(graph_of(self.as_given)), self._ran(self.as_given, "on its initial values").after
        except PassRaisedError:
            return None

    def drop(self, run: str) -> None:
        """Free the memory that a later run holds: its module and its graph refer to each other."""
        made = vars(self).pop(run, None)
        if made is not None and sum(held.nbytes for held in tensors_of(made.after).values()) > _MUCH:
            del made
            gc.collect()

    @property
    def after(self) -> fx.GraphModule:
        return self.first.after

    def outcomes(self, inputs: Sequence[Any]) -> tuple[Outcome, Outcome]:
        return outcome(self.before, inputs), outcome(self.after, inputs)

    def _in_memory_of(self, module: fx.GraphModule, source: Tried, which: str) -> Ran:
        """Run a pass again without copying the tensors, since its first run wrote into none of them."""
        if self.first.besides or not isinstance(source, fx.GraphModule):
            return self._ran(source, which)
        with kept(module):
            return self._ran(source, which, shares=True)

    def _ran(self, source: Tried, which: str = "", *, shares: bool = False) -> Ran:
        # Each run has a different seed, so that a pass that uses random numbers is noticed.
        self._runs += 1
        return ran(self.run, source, self.inputs, SEED + 2 * self._runs, which, self.leave_out, shares=shares)

    def leave_out(self, what: str, of: str = "purity") -> None:
        self.not_compared.setdefault(what, of)


def _function(run: Any) -> Pass:
    """The pass itself. Raises TypeError if it cannot be a pass."""
    kind = type(run).__name__
    if isinstance(run, fx.GraphModule | ExportedProgram | fx.Graph):
        raise TypeError(f"the pass is a {kind}, as if the arguments were swapped: check_pass(pass, module, inputs)")
    if not callable(run):
        raise TypeError(
            f"the pass is of type {kind}: give the function itself, which gets a GraphModule and returns "
            "PassResult(module, modified)"
        )
    return run


def _with_numbers(program: ExportedProgram, module: fx.GraphModule) -> ExportedProgram:
    held = tensors_of(module)
    new = copy.copy(program)
    new._state_dict = {name: held.get(name, one) for name, one in program.state_dict.items()}
    return new
