"""Count FLOPs while a check runs: of a call, by module, and by node of a graph that an answer returned."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch

# A FlopCounterMode imports this when it is first used, which takes longer than a check may: done here, before the fork.
import torch._dynamo
from torch import fx, nn
from torch.utils.flop_counter import FlopCounterMode


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Run the body on one thread: small models on a busy machine wait for their threads longer than they compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@one_thread()
def total_flops(module: nn.Module, *inputs: Any) -> int:
    """FLOPs of one call."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(*inputs)
    return counter.get_total_flops()


@one_thread()
def flops_by_outermost(model: nn.Module, *inputs: Any) -> dict[str, int]:
    """FLOPs by path of the outermost submodule, counted while the model itself runs; ``""`` for the model's own."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(*inputs)
    counts = {path: sum(by_op.values()) for path, by_op in counter.get_flop_counts().items()}
    found = {path.split(".")[1]: count for path, count in counts.items() if path.count(".") == 1}
    found[""] = counts.get("Global", 0) - sum(found.values())
    return {path: count for path, count in found.items() if count}


class _Counting(fx.Interpreter):
    """Runs a graph and counts the FLOPs of each node, by name."""

    def __init__(self, module: fx.GraphModule, counter: FlopCounterMode) -> None:
        super().__init__(module)
        self.counter = counter
        self.flops: dict[str, int] = {}

    def run_node(self, n: fx.Node) -> Any:
        before = self.counter.get_total_flops()
        value = super().run_node(n)
        self.flops[n.name] = self.counter.get_total_flops() - before
        return value


def counted(answer: Callable[..., Any], model: nn.Module) -> Any:
    """What the answer returns, made so that running it also gives the FLOPs of its nodes: ``(result, by_name)``."""
    result = answer(model)
    if isinstance(result, fx.GraphModule):
        forward, flops = result.forward, {}

        # Wrapped openly, so that the code that forward runs can still be read.
        @functools.wraps(forward)
        def with_flops(*inputs: Any) -> tuple[Any, dict[str, int]]:
            value = forward(*inputs)
            if not flops:
                # Once: they depend on the shapes of the inputs only.
                with FlopCounterMode(display=False) as counter:
                    counting = _Counting(result, counter)
                    counting.run(*inputs)
                flops.update(counting.flops)
            return value, flops

        result.forward = with_flops  # type: ignore[method-assign]
    return result


def needed(model: nn.Module, *inputs: Any) -> dict[str, int]:
    """FLOPs by path of the submodule that does them, when the model runs as it is; ``""`` for its own."""
    traced = fx.symbolic_trace(model)
    with FlopCounterMode(display=False) as counter:
        counting = _Counting(traced, counter)
        counting.run(*inputs)
    found: dict[str, int] = {}
    for node in traced.graph.nodes:
        path = str(node.target) if node.op == "call_module" else ""
        found[path] = found.get(path, 0) + counting.flops[node.name]
    return found
