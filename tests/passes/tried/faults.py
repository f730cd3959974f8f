"""Faults in torch's passes, each with a one-line program and the number of random graphs that it breaks."""

from __future__ import annotations

import copy
import dataclasses
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, fx
from torch.fx.experimental.merge_matmul import merge_matmul
from torch.fx.experimental.normalize import NormalizeOperators
from torch.fx.passes.dialect.common.cse_pass import CSEPass
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import create_op_support
from torch.fx.passes.split_module import split_module
from torch.fx.passes.tools_common import legalize_graph

from fxbook import check_pass, random_graph

GRAPHS, STEPS = 120, 10


def _eliminate_dead_code(module: fx.GraphModule) -> None:
    module.graph.eliminate_dead_code()
    module.recompile()


def _legalize_graph(module: fx.GraphModule) -> None:
    legalize_graph(module)
    module.recompile()


def _normalize(module: fx.GraphModule) -> fx.GraphModule:
    return NormalizeOperators(module).transform()


def _share(module: fx.GraphModule) -> fx.GraphModule:
    return CSEPass()(module).graph_module


def _split(module: fx.GraphModule) -> fx.GraphModule:
    return split_module(module, module, lambda node: int(node.name == "mul_"))


def _partition(module: fx.GraphModule) -> fx.GraphModule:
    functions = create_op_support(lambda _, node: node.op == "call_function")
    return CapabilityBasedPartitioner(module, functions, allows_single_node_partition=True).partition_and_fuse()


def _replace(module: fx.GraphModule) -> None:
    fx.replace_pattern(module, lambda x: (x + 1) * 2, lambda x: torch.add(x, 1).mul(2))


@dataclasses.dataclass(frozen=True)
class Fault:
    """A torch pass, and a program that it breaks.

    Attributes:
        name: the pass.
        body: the body of a function of ``x`` and ``y``, in one line.
        run: the pass.
        wrong: the fault, in a few words.
        inputs: ``x`` and ``y`` as lists of numbers.
        limits: options for the random graphs on which the fault is counted; none if it was found by hand.
        known: the number of an issue in pytorch/pytorch, if there is one.
    """

    name: str
    body: str
    run: Callable[[fx.GraphModule], Any]
    wrong: str
    inputs: tuple[list[Any], list[Any]] = ([1.0], [1.0])
    limits: Mapping[str, Any] | None = None
    known: int | None = None

    @property
    def entry(self) -> dict[str, Any]:
        """The entry in the record, with the program's results before and after the pass."""
        before, after = self.shown()
        entry = {"name": self.name, "wrong": self.wrong, "program": self.body, "before": before, "after": after}
        return entry | ({"known": self.known} if self.known else {})

    def shown(self) -> tuple[str, str]:
        """The program's results before and after the pass."""
        scope: dict[str, Any] = {"torch": torch}
        exec(f"def program(x, y): {self.body}", scope)
        module = fx.symbolic_trace(scope["program"])
        inputs = tuple(map(torch.tensor, self.inputs))
        before = _text(module(*copy.deepcopy(inputs)))
        try:
            return before, _text((self.run(module) or module)(*inputs))
        except TypeError as error:
            return before, f"{type(error).__name__}: {error}"

    def broken(self) -> int:
        """The number of random graphs that the pass breaks or cannot handle."""
        count = 0
        for seed in range(GRAPHS):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                drawn = random_graph(seed, steps=STEPS, **self.limits)
                count += not check_pass(self.run, drawn, keep=["lint", "values"])
        return count


def _text(result: Any) -> str:
    if isinstance(result, Tensor):
        whole = not result.is_floating_point()
        return ", ".join(str(number) if whole else f"{number:.4g}" for number in result.flatten().tolist()) + (
            " (int)" if whole else ""
        )
    return " and ".join(map(_text, result))


FAULTS = (
    Fault(
        "NormalizeOperators",
        "return torch.add(x, y, alpha=10)",
        _normalize,
        "forgets `alpha`, and `rounding_mode` of `torch.div`",
        limits={},
    ),
    Fault(
        "Graph.eliminate_dead_code",
        "z = x + 1; z.mul_(2); return z",
        _eliminate_dead_code,
        "erases in-place calls whose result no node uses, except ATen operators",
        limits={},
        known=68301,
    ),
    Fault(
        "CSEPass",
        "z = x + 1; z.mul_(2); return z - (x + 1)",
        _share,
        "merges equal calls although there is a write between them",
        limits={"views": False},
    ),
    Fault(
        "CSEPass",
        "return x * 2, x * 2.0",
        _share,
        "merges calls whose numbers are equal but of different types",
        inputs=([1], [1]),
        known=192597,
    ),
    Fault(
        "legalize_graph",
        "z = x + 0; z.add_(x.sin().cos()); return z * 2",
        _legalize_graph,
        "moves a write after the nodes that use the value, and after the output",
        limits={},
    ),
    Fault(
        "split_module",
        "z = x + 1; z.mul_(2); return z * 3",
        _split,
        "moves a read across a write if the write is a part of its own",
    ),
    Fault(
        "CapabilityBasedPartitioner",
        "z = x + 1; z.mul_(2); return z * 3",
        _partition,
        "moves a read across a write if the backend supports everything but the write",
        known=81244,
    ),
    Fault(
        "merge_matmul",
        "z = torch.matmul(x, y); x.zero_(); return z, torch.matmul(x + 1, y)",
        merge_matmul,
        "moves a multiplication after a write",
        inputs=([[1.0]], [[1.0]]),
    ),
    Fault(
        "replace_pattern",
        "z = x + 1; x.add_(1); return z * 2",
        _replace,
        "puts the replacement at the end of the match, after a write",
    ),
)
