"""A trial of a pass on random graphs: how graphs are captured, what must hold, and what results are expected."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.fake_tensor_prop import FakeTensorProp
from torch.fx.passes.infra.pass_base import PassResult

from fxbook import check_pass, inputs_for
from tests.notebooks import from_notebook

Pass = Callable[..., PassResult]
NUMBERS = ("values", "values_at_another_size", "values_of_other_numbers", "values_in_another_mode", "gradients")


def itself(run: Any) -> Any:
    return run


def opened(module: fx.GraphModule) -> fx.GraphModule:
    """The graph with the modules of a trial traced through, and an example in the meta of each node."""
    whole = fx.symbolic_trace(module)
    FakeTensorProp(whole, FakeTensorMode(allow_non_fake_inputs=True)).propagate(*inputs_for(module))
    return whole


def frozen(module: fx.GraphModule) -> fx.GraphModule:
    """The opened graph without trainable weights."""
    return opened(module).requires_grad_(False)


def in_operators(module: fx.GraphModule) -> fx.GraphModule:
    """The graph in ATen operators."""
    return make_fx(fx.Interpreter(module).run)(*(value.detach() for value in inputs_for(module)))


@dataclasses.dataclass(frozen=True)
class Trial:
    """A pass, its graphs, and the requirements.

    Attributes:
        chapter: the notebook with the pass.
        name: the function's name there.
        does: its effect, in a few words.
        limits: options for the random graphs.
        captured: prepares a random graph for the pass.
        called: turns the function into a pass with one argument.
        without: invariants that the pass need not keep.
        equal_to: computes the expected results from the original module, if values change.
        may_refuse: whether the pass may leave a graph unchanged; its values must then stay the same.
        rtol: the relative tolerance.
        found: what random graphs have found, and whether it is fixed.
    """

    chapter: str
    name: str
    does: str
    limits: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    captured: Callable[[fx.GraphModule], fx.GraphModule] = itself
    called: Callable[[Pass], Pass] = itself
    without: tuple[str, ...] = ()
    equal_to: Callable[[fx.GraphModule], Any] | None = None
    may_refuse: bool = False
    rtol: float | None = None
    found: str = ""

    @property
    def entry(self) -> dict[str, Any]:
        entry: dict[str, Any] = {"chapter": self.chapter, "name": self.name, "does": self.does}
        left_out = [name for name in self.without if self.equal_to is None or name not in NUMBERS]
        return entry | ({"without": left_out} if left_out else {}) | ({"found": self.found} if self.found else {})

    def of(self, drawn: fx.GraphModule) -> bool:
        """Run the pass on a random graph and check the requirements; return whether it changed something.

        Raises:
            AssertionError: the pass breaks an invariant, or its result is not the expected one.
        """
        module = self.captured(drawn)
        inputs = inputs_for(drawn)
        # A graph of operators fits only the sizes with which it was captured.
        others = () if self.captured is in_operators else [inputs_for(drawn, rows) for rows in (1, 5)]
        run = self.called(from_notebook(self.chapter, self.name))
        limits = {} if self.rtol is None else {"rtol": self.rtol, "atol": self.rtol}
        result = check_pass(run, module, inputs, without=self.without, others=others, **limits).require().result
        if self.equal_to is not None:
            refused = self.may_refuse and not result.modified
            self._compare(itself if refused else self.equal_to, module, result.graph_module, inputs)
        return result.modified

    def _compare(
        self,
        equal_to: Callable[[fx.GraphModule], Any],
        before: fx.GraphModule,
        after: fx.GraphModule,
        inputs: tuple[Any, ...],
    ) -> None:
        reference = equal_to(copy.deepcopy(before))
        run = reference.run if isinstance(reference, fx.Interpreter) else reference
        with torch.no_grad():
            expected, found = run(*copy.deepcopy(inputs)), after(*copy.deepcopy(inputs))
        torch.testing.assert_close(found, expected, equal_nan=True)
