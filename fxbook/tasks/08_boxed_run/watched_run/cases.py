"""Run a graph through an answer and record, before each step, which values are alive."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.utils import _pytree as pytree

from fxbook.cases.zoo import last_users_first

from ..cases import ROWS, WIDTH


def random_inputs(count: int) -> list[Tensor]:
    """Inputs to which only this list refers."""
    return [torch.randn(ROWS, WIDTH) for _ in range(count)]


def inputs_of(model: nn.Module) -> int:
    """The number of inputs of the model."""
    return len(fx.symbolic_trace(model).graph.find_nodes(op="placeholder"))


def with_inputs_of_its_own(model: nn.Module) -> tuple[nn.Module, list[Tensor]]:
    """Pass the model, and a list of inputs to which nothing else refers."""
    return model, random_inputs(inputs_of(model))


def run_watched(
    use: Callable[[fx.GraphModule, Any], Callable[[], Any]],
    model: nn.Module,
    tensors: list[Tensor],
    by_name: bool = False,
    edited: bool = False,
) -> dict[str, Any]:
    """Run the watched graph of a model through an answer and record which values are alive at each step.

    Args:
        use: takes the traced module and the inputs, and returns a function that runs them; values to which that
            function refers stay alive after the run.
        model: the model to trace.
        tensors: the inputs; only this list refers to them.
        by_name: whether to pass the inputs as a dict by name, in a different order, instead of as the list.
        edited: whether to edit the graph first, so that the users of a value are not in list order.

    Returns:
        What a rule reads as :class:`Run`, or ``{"not in env": name}`` if a node's value was looked up in vain.
    """
    traced, watch = watched(model)
    if edited:
        last_users_first(traced.graph)
    names, text = [node.name for node in traced.graph.find_nodes(op="placeholder")], str(traced.graph)
    for name, place in zip(names, range(len(tensors)), strict=True):
        watch.see(name, tensors[place])
    handed: Any = tensors
    if by_name:
        # Neither the order of the inputs nor its reverse: the last comes first.
        handed = {names[-1]: tensors.pop()} | {name: tensors.pop(0) for name in names[:-1]}
    watch.handed = handed
    with torch.no_grad():
        run = use(traced, handed)
        try:
            result = run()
        except KeyError as error:
            if not error.args or not isinstance(error.args[0], fx.Node):
                raise
            return {"not in env": error.args[0].name}
        # Copied, so that after the next lines only the answer can keep values alive.
        copied, left = pytree.tree_map_only(Tensor, torch.clone, result), len(handed)
        handed.clear()
        del result
    observed = {"steps": list(watch.steps), "astray": watch.astray[:1], "result": copied}
    observed |= {"left": left, "held": watch.alive()}
    return observed if str(traced.graph) == text else {**observed, "graph changed": True}


def watched(model: nn.Module) -> tuple[fx.GraphModule, Watch]:
    """The traced model, with a :class:`Step` as the target of each call; node names, order and users are unchanged.

    A ``call_module`` node calls the step through a :class:`StepModule`, because an answer may look at its opcode.
    """
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
        step = Step(watch, node, function)
        if node.op == "call_module":
            node.target = step.__name__
            traced.add_module(step.__name__, StepModule(step))
        else:
            node.op, node.target = "call_function", step
    traced.recompile()
    return traced, watch


def forget_steps(traced: fx.GraphModule) -> None:
    """Forget what the steps of a watched graph have recorded, but not which tensors are its inputs."""
    inputs = [node.name for node in traced.graph.find_nodes(op="placeholder")]
    for node in traced.graph.nodes:
        if isinstance(node.target, Step):
            node.target.watch.forget_all_but(inputs)


def _method(name: str, value: Any, *args: Any, **kwargs: Any) -> Any:
    return getattr(value, name)(*args, **kwargs)


class Watch:
    """Records, before each step computes, which values are alive: those whose memory exists. Keeps none alive.

    ``steps`` is a list of ``(name of the node, names of the values alive, names of the inputs that are still in
    handed)``, where ``handed`` is the list or dict that was passed. A result that shares memory with an earlier value,
    such as an in-place method's, has the name of that value. ``astray`` lists the steps that got a different value from
    the one that their node uses: ``(name of the node, name of the value, name of the value that it got)``, where the
    last is ``""`` for a tensor that is neither an input nor a result.
    """

    def __init__(self) -> None:
        self.handed: Any = []
        self.steps: list[tuple[str, list[str], list[str]]] = []
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
        """Record that a step is about to compute from these values; ``reads`` names the values that its node uses."""
        handed = [value for value in pytree.tree_leaves(self.handed) if isinstance(value, Tensor)]
        self.steps.append((name, self.alive(), [self._name(value) for value in handed]))
        # Deleted now, because the step may free inputs while it runs.
        del handed
        for read, value in zip(reads, values, strict=False):
            received = self._name(value)
            if received != self._known_as.get(read, read):
                self.astray.append((name, read, received))

    def forget_all_but(self, names: list[str]) -> None:
        """Forget the recorded steps, and all values except those with these names."""
        self.steps, self.astray, self._known_as = [], [], {}
        self._refs = {name: ref for name, ref in self._refs.items() if name in names}

    def alive(self) -> list[str]:
        return [name for name, ref in self._refs.items() if ref() is not None]

    def _name(self, value: Tensor) -> str:
        store = value.untyped_storage()
        return next((name for name, ref in self._refs.items() if ref() is store), "")

    def __deepcopy__(self, memo: dict[int, Any]) -> Watch:
        return self


class Step:
    """The new target of a node: tells the watch about the call, and computes what the old target computes."""

    def __init__(self, watch: Watch, node: fx.Node, function: Callable[..., Any]) -> None:
        self.watch, self.name, self.function = watch, node.name, function
        self.reads: list[str] = []
        fx.node.map_arg((node.args, node.kwargs), lambda read: self.reads.append(read.name))
        # Code generation needs these attributes of a function.
        self.__name__ = self.__qualname__ = f"step_{node.name}"
        self.__module__ = __name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = [value for value in pytree.tree_leaves((args, kwargs)) if isinstance(value, Tensor)]
        self.watch.compute(self.name, self.reads, values)
        # Deleted now, because the function may free its inputs while it runs.
        del values
        result = self.function(*args, **kwargs)
        self.watch.see(self.name, result)
        return result

    def __deepcopy__(self, memo: dict[int, Any]) -> Step:
        return self


class StepModule(nn.Module):
    """A step as a module."""

    def __init__(self, step: Step) -> None:
        super().__init__()
        self.step = step

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.step(*args, **kwargs)
