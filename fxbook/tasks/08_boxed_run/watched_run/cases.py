"""A run through an answer, of a graph in which every step records which values are alive."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.utils import _pytree as pytree

from ..cases import ROWS, WIDTH, edit


def draw(count: int) -> list[Tensor]:
    """This many inputs, which nothing but the list holds."""
    return [torch.randn(ROWS, WIDTH) for _ in range(count)]


def inputs_of(model: nn.Module) -> int:
    """How many inputs the model takes."""
    return len(fx.symbolic_trace(model).graph.find_nodes(op="placeholder"))


def with_inputs_of_its_own(model: nn.Module) -> tuple[nn.Module, list[Tensor]]:
    """The model and a list of inputs, which nothing else holds."""
    return model, draw(inputs_of(model))


def run_watched(
    use: Callable[[fx.GraphModule, Any], Callable[[], Any]],
    model: nn.Module,
    tensors: list[Tensor],
    by_name: bool = False,
    edited: bool = False,
) -> dict[str, Any]:
    """Run the watched graph of the model through the answer and record what was alive, and when.

    Args:
        use: takes the graph and the inputs, and returns a function that runs them; what it holds stays alive after the
            run.
        model: whose graph is run.
        tensors: the inputs, which nothing but this list holds.
        by_name: pass the inputs as a dict by name, in a different order, and not as the list.
        edited: whether the graph was edited, so that a value's users are not in list order.
    """
    traced, watch = watched(model)
    if edited:
        edit(traced.graph)
    names = [node.name for node in traced.graph.find_nodes(op="placeholder")]
    for name, place in zip(names, range(len(tensors)), strict=True):
        watch.see(name, tensors[place])
    handed: Any = tensors
    if by_name:
        # The last comes first: neither the input order nor its reverse.
        handed = {names[-1]: tensors.pop()} | {name: tensors.pop(0) for name in names[:-1]}
    with torch.no_grad():
        run = use(traced, handed)
        try:
            result = run()
        except KeyError as error:
            if not error.args or not isinstance(error.args[0], fx.Node):
                raise
            return {"not in env": error.args[0].name}
        # A copy, so that what is alive after the next lines is held by the answer.
        copied, left = pytree.tree_map_only(Tensor, torch.clone, result), len(handed)
        handed.clear()
        del result
    observed = {"steps": list(watch.steps), "astray": watch.astray[:1], "result": copied}
    return {**observed, "left": left, "held": watch.alive()}


def watched(model: nn.Module) -> tuple[fx.GraphModule, Watch]:
    """The traced model, with a :class:`Step` as the target of each call; names, order and users stay."""
    traced, watch = fx.symbolic_trace(model), Watch()
    for node in traced.graph.nodes:
        if node.op == "call_method":
            function: Callable[..., Any] = functools.partial(_method, node.target)
        elif node.op == "call_module":
            function = traced.get_submodule(node.target)
        elif node.op == "call_function":
            function = node.target
        else:
            continue
        node.op, node.target = "call_function", Step(watch, node, function)
    traced.recompile()
    return traced, watch


def _method(name: str, value: Any, *args: Any, **kwargs: Any) -> Any:
    return getattr(value, name)(*args, **kwargs)


class Watch:
    """Records, whenever a step computes, which values are alive (their memory exists). Holds only weak references.

    ``steps`` is a list of ``(name of the node, names of the values alive)``, the step's own result not among them. A
    result in memory that is already known, such as an in-place method's, goes by its old name. ``astray`` has the steps
    that were given a different value from the one their node reads: ``(name of the node, name of the value, name of
    what it got)``, the last ``""`` for a tensor that is neither an input nor a result.
    """

    def __init__(self) -> None:
        self.steps: list[tuple[str, list[str]]] = []
        self.astray: list[tuple[str, str, str]] = []
        self._refs: dict[str, weakref.ref[torch.UntypedStorage]] = {}
        self._known_as: dict[str, str] = {}

    def see(self, name: str, value: Any) -> None:
        if isinstance(value, Tensor):
            known = self._name(value)
            if known:
                self._known_as[name] = known
            else:
                self._refs[name] = weakref.ref(value.untyped_storage())

    def compute(self, name: str, reads: list[str], values: list[Any]) -> None:
        """A step is about to compute from these values; ``reads`` holds those that its node uses."""
        self.steps.append((name, self.alive()))
        for read, value in zip(reads, values, strict=False):
            received = self._name(value)
            if received != self._known_as.get(read, read):
                self.astray.append((name, read, received))

    def alive(self) -> list[str]:
        return [name for name, ref in self._refs.items() if ref() is not None]

    def _name(self, value: Tensor) -> str:
        store = value.untyped_storage()
        return next((name for name, ref in self._refs.items() if ref() is store), "")

    def __deepcopy__(self, memo: dict[int, Any]) -> Watch:
        return self


class Step:
    """The target of a node: computes what the node computed before, and notifies the watch."""

    def __init__(self, watch: Watch, node: fx.Node, function: Callable[..., Any]) -> None:
        self.watch, self.name, self.function = watch, node.name, function
        self.reads: list[str] = []
        fx.node.map_arg((node.args, node.kwargs), lambda read: self.reads.append(read.name))
        # The names that generated code needs from a function.
        self.__name__ = self.__qualname__ = f"step_{node.name}"
        self.__module__ = __name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = [value for value in pytree.tree_leaves((args, kwargs)) if isinstance(value, Tensor)]
        self.watch.compute(self.name, self.reads, values)
        # Deleted before the function runs, because the function itself may free an input.
        del values
        result = self.function(*args, **kwargs)
        self.watch.see(self.name, result)
        return result

    def __deepcopy__(self, memo: dict[int, Any]) -> Step:
        return self
