"""Run a pass on a copy, and note what it did: to the graph, and to what it was given besides."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import torch
from torch import Tensor, fx, nn
from torch.fx.passes.infra.pass_base import PassResult
from torch.utils import _pytree as pytree

from fxbook.graph.given import bytes_of, children_of, held_by, settings_of
from fxbook.graph.global_state import GlobalStateSnapshot
from fxbook.graph.record import GraphRecord, record
from fxbook.passes.growing.inputs import inputs_for

Pass = Callable[[fx.GraphModule], Any]
SEED = 0
"""Under which every module is run, so that two runs draw the same random numbers."""
_OTHER_ROWS = (1, 5)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a run of a module gave: its result, what its inputs held then; or the error it raised.

    ``state`` is what its own tensors held then, by name, ``written`` are the names of those that held something else
    before.
    """

    result: Any = None
    inputs: tuple[Any, ...] = ()
    state: dict[str, Tensor] = dataclasses.field(default_factory=dict)
    written: frozenset[str] = frozenset()
    error: Exception | None = None


@dataclasses.dataclass(frozen=True)
class Ran:
    """One run of a pass on a copy: what it returned, the module that came out, and what it did besides.

    ``nodes`` are those of the graph that the pass was given: the opcode and the meta of each, by name. ``besides`` are
    sentences without their stops, ``traced`` says what has traced the module again.
    """

    returned: Any
    after: fx.GraphModule
    nodes: dict[str, tuple[str, dict[str, Any]]]
    besides: tuple[str, ...]
    traced: tuple[str, ...]


class Trial:
    """A pass, what it is tried on, and what came of it; each is run once, whoever asks."""

    def __init__(
        self,
        run: Pass,
        module: fx.GraphModule,
        inputs: Sequence[Any] | None = None,
        others: Sequence[Sequence[Any]] | None = None,
        rtol: float | None = None,
        atol: float | None = None,
    ) -> None:
        """Nothing is run before it is asked for; the arguments are those of every invariant.

        Raises:
            TypeError: there is no graph; the message says what to pass.
        """
        if not isinstance(module, fx.GraphModule):
            kind = type(module).__name__
            raise TypeError(
                f"a pass is tried on a GraphModule, got {kind}: trace it, with torch.fx.symbolic_trace(model)"
            )
        if others is None:
            others = () if inputs is not None else [inputs_for(module, rows) for rows in _OTHER_ROWS]
        self.run, self.module, self.others = run, module, [tuple(other) for other in others]
        self.inputs = inputs_for(module) if inputs is None else tuple(inputs)
        self.rtol, self.atol = rtol, atol

    @functools.cached_property
    def before(self) -> fx.GraphModule:
        """A copy of the module that no pass has seen."""
        return copy.deepcopy(self.module)

    @functools.cached_property
    def recorded(self) -> tuple[GraphRecord, GraphRecord]:
        """The graph before the pass and after it, as plain data."""
        return record(self.before), record(self.after)

    @functools.cached_property
    def first(self) -> Ran:
        """What the pass made of the module."""
        return self._ran(copy.deepcopy(self.module))

    @functools.cached_property
    def second(self) -> Ran:
        """What it made of an equal one."""
        return self._ran(copy.deepcopy(self.module))

    @functools.cached_property
    def twice(self) -> Ran:
        """What it made of its own result."""
        return self._ran(copy.deepcopy(self.first.after))

    @property
    def after(self) -> fx.GraphModule:
        """The module that came out."""
        return self.first.after

    def outcomes(self, inputs: Sequence[Any]) -> tuple[Outcome, Outcome]:
        """What the module gives for inputs before the pass, and after it."""
        return outcome(self.before, inputs), outcome(self.after, inputs)

    def _ran(self, given: fx.GraphModule) -> Ran:
        nodes = {node.name: (node.op, dict(node.meta)) for node in given.graph.nodes}
        tensors = {f"the weight `{name}`": held for name, held in tensors_of(given).items()}
        tensors |= {f"input {i}": leaf for i, leaf in enumerate(pytree.tree_leaves(self.inputs)) if dense(leaf)}
        bytes_before = {name: bytes_of(held).clone() for name, held in tensors.items()}
        wants = {name: held.requires_grad for name, held in tensors.items()}
        # The model that a graph was traced from holds the same ones.
        called = dict(_called(given))
        looks = {path: _look(module) for path, module in called.items()}
        random = torch.get_rng_state()
        before = GlobalStateSnapshot((), [], "the pass")
        traced: list[str] = []
        try:
            with _watched(given, traced):
                returned = self.run(given)
            besides = [
                *before.side_effects(),
                *(
                    ["it uses up random numbers of torch, which the next dropout would have drawn"]
                    if not torch.equal(random, torch.get_rng_state())
                    else []
                ),
            ]
        finally:
            before.put_back()
            torch.set_rng_state(random)
        for name, held in tensors.items():
            if not torch.equal(bytes_before[name], bytes_of(held)):
                besides.append(f"{name} holds other values: it is written into, not replaced")
            elif held.requires_grad != wants[name]:
                besides.append(f"{name} has another requires_grad")
        for path, module in called.items():
            if said := _otherwise(looks[path], _look(module)):
                besides.append(f"the module `{path}`, which others may hold too, has {said}")
        return Ran(returned, returned_module(returned, given), nodes, tuple(besides), tuple(traced))


def outcome(module: nn.Module, inputs: Sequence[Any]) -> Outcome:
    """Run a module on copies of the inputs, from a seed; the module's own tensors are put back afterwards."""
    own = copy.deepcopy(tuple(inputs))
    try:
        with kept(module) as before, torch.no_grad():
            result = detached(module(*own))
            state = {name: held.detach().clone() for name, held in tensors_of(module).items()}
        written = {name for name in before if name in state and not torch.equal(before[name], state[name])}
        return Outcome(result, own, state, frozenset(written))
    except Exception as error:
        return Outcome(error=error)


@contextlib.contextmanager
def kept(module: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Run a module from a seed inside; afterwards its tensors and torch's random numbers are as they were.

    Inside it has copies of the tensors, by name.
    """
    state = tensors_of(module)
    held_before = {name: held.detach().clone() for name, held in state.items()}
    random = torch.get_rng_state()
    # torch.manual_seed() also leaves word for devices that are not in use yet, which takes longer than a small graph.
    torch.default_generator.manual_seed(SEED)
    try:
        yield held_before
    finally:
        torch.set_rng_state(random)
        with torch.no_grad():
            for name, held in state.items():
                if not torch.equal(held, held_before[name]):
                    held.copy_(held_before[name])


def tensors_of(module: nn.Module) -> dict[str, Tensor]:
    """Parameters, buffers and other tensors that a module holds, by name; one that is held twice is there twice."""
    return {
        f"{path}.{name}" if path else name: held
        for path, below in module.named_modules(remove_duplicate=False)
        for name, held in held_by(below)
    }


def program(module: fx.GraphModule) -> list[tuple[Any, ...]]:
    """What tells two graphs apart: name, opcode, target and arguments of each node."""
    return [(node.name, node.op, node.target, _text(node.args), _text(node.kwargs)) for node in module.graph.nodes]


def modules_of(module: nn.Module) -> dict[str, str]:
    """What the modules are, by path."""
    return {path: f"{type(below).__name__}({below.extra_repr()})" for path, below in module.named_modules() if path}


def _text(arguments: Any) -> str:
    return repr(fx.node.map_arg(arguments, lambda node: node))


def detached(result: Any) -> Any:
    """A result whose tensors are copies, without what autograd knows of them."""
    return pytree.tree_map_only(Tensor, lambda tensor: tensor.detach().clone(), result)


def dense(leaf: Any) -> bool:
    """Whether it is a tensor whose numbers lie in a storage."""
    return isinstance(leaf, Tensor) and leaf.layout == torch.strided and not leaf.is_meta


def returned_module(returned: Any, given: fx.GraphModule) -> fx.GraphModule:
    """The module that a pass hands back, whichever way it does.

    Raises:
        TypeError: it hands back something else; the message says what to return.
    """
    match returned:
        case None:
            return given
        case PassResult(graph_module=fx.GraphModule() as module) | (fx.GraphModule() as module):
            return module
        case fx.Graph():
            return fx.GraphModule(given, returned)
    raise TypeError(f"the pass returns {type(returned).__name__}: return PassResult(module, modified)")


# ---- modules that others may hold too --------------------------------------------------------------------------------


def _called(module: fx.GraphModule) -> Iterator[tuple[str, nn.Module]]:
    """The modules that the graph calls, and those in them."""
    for path in dict.fromkeys(node.target for node in module.graph.nodes if node.op == "call_module"):
        yield from module.get_submodule(path).named_modules(prefix=path)


def _look(module: nn.Module) -> dict[str, Any]:
    hooks = sum(len(getattr(module, name)) for name in vars(module) if name.endswith("_hooks"))
    return {
        "another class": type(module),
        "other settings": settings_of(module),
        "another submodule": [(name, id(child)) for name, child in children_of(module)],
        "another weight": [(name, id(held)) for name, held in held_by(module)],
        "another number of hooks": hooks,
        "another mode": module.training,
        "a `forward` of its own": "forward" in vars(module),
    }


def _otherwise(before: dict[str, Any], now: dict[str, Any]) -> str:
    return " and ".join(what for what in before if before[what] != now[what])


# ---- tracing ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _watched(given: fx.GraphModule, traced: list[str]) -> Iterator[None]:
    """Note each tracing of the module itself, by any front end."""
    family = {id(module) for module in given.modules()}
    trace, transform = fx.Tracer.trace, fx.Transformer.transform

    def watched_trace(self: fx.Tracer, root: Any, *args: Any, **kwargs: Any) -> fx.Graph:
        own = root if isinstance(root, nn.Module) else getattr(root, "__self__", None)
        if isinstance(own, fx.GraphModule) and (id(own) in family or _same_code(own, given)):
            traced.append(f"{type(self).__name__}.trace")
        return trace(self, root, *args, **kwargs)

    def watched_transform(self: fx.Transformer) -> fx.GraphModule:
        traced.append(f"{type(self).__name__}.transform")
        return transform(self)

    with contextlib.ExitStack() as patches:
        patches.enter_context(mock.patch.object(fx.Tracer, "trace", watched_trace))
        patches.enter_context(mock.patch.object(fx.Transformer, "transform", watched_transform))
        for home, name in _others_that_trace():
            patches.enter_context(mock.patch.object(home, name, _noting(getattr(home, name), name, traced)))
        yield


def _same_code(module: fx.GraphModule, given: fx.GraphModule) -> bool:
    return module.code == given.code


def _others_that_trace() -> Iterator[tuple[Any, str]]:
    """What else makes a graph by running a module; where a version of torch has none of it, it is not watched."""
    from torch.fx.experimental import proxy_tensor

    yield proxy_tensor._MakefxTracer, "_trace_inner"
    export = getattr(torch.export, "_trace", None)
    if hasattr(export, "_export"):
        yield export, "_export"


def _noting(function: Callable[..., Any], name: str, traced: list[str]) -> Callable[..., Any]:
    @functools.wraps(function)
    def noted(*args: Any, **kwargs: Any) -> Any:
        traced.append({"_trace_inner": "make_fx", "_export": "torch.export"}.get(name, name))
        return function(*args, **kwargs)

    return noted
