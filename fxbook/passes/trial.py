"""Run a pass on a copy, and note what it did: to the graph, and to what it was given besides."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import io
import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.export import ExportedProgram
from torch.fx.passes.infra.pass_base import PassResult
from torch.utils import _pytree as pytree

from fxbook.graph.given import bytes_of, children_of, held_by, settings_of
from fxbook.graph.global_state import GlobalStateSnapshot
from fxbook.graph.record import GraphRecord, record
from fxbook.passes.calling import Inputs, call, checked, shapes
from fxbook.passes.copying import copied
from fxbook.passes.growing.inputs import inputs_for
from fxbook.passes.layout import layout_of
from fxbook.passes.process import Process
from fxbook.passes.resizing import Resized, other_sizes
from fxbook.passes.shaking import shake
from fxbook.passes.state import Otherwise, replaced
from fxbook.passes.watching import watched

Pass = Callable[[Any], Any]
Tried = fx.GraphModule | ExportedProgram
SEED = 20_071
"""Under which every module is run, so that two runs draw the same random numbers; a graph may seed with 0 or 42."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a run of a module gave: its result, what its inputs held then; or the error it raised.

    ``state`` is what its own tensors held then, by name, ``written`` are the names of those that held something else
    before, ``layout`` is how the result lies in memory.
    """

    result: Any = None
    inputs: tuple[Any, ...] = ()
    state: dict[str, Tensor] = dataclasses.field(default_factory=dict)
    written: frozenset[str] = frozenset()
    layout: dict[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    error: Exception | None = None


@dataclasses.dataclass(frozen=True)
class Ran:
    """One run of a pass on a copy: what it returned, the module that came out, and what it did besides.

    ``made`` is the module, or the program that it is of. ``nodes`` are those of the graph that the pass was given: the
    opcode and the meta of each, by name. ``besides`` are sentences without their stops, ``traced`` says what has traced
    the module again, ``replaced`` which parameter is another object without need, ``in_place``
    whether the module came out that went in.
    """

    returned: Any
    after: fx.GraphModule
    nodes: dict[str, tuple[str, dict[str, Any]]]
    besides: tuple[str, ...]
    traced: tuple[str, ...]
    replaced: Otherwise | None
    in_place: bool
    made: Tried


def one_line(error: Exception) -> str:
    """An error with the first line of what it says."""
    said = str(error).strip().split("\n")[0][:200]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


class PassRaisedError(Exception):
    """A pass raises; the message says what, and in which of its runs."""

    def __init__(self, error: Exception, which: str = "") -> None:
        super().__init__(f"the pass raises {one_line(error)}" + (f", in its second run, {which}" if which else ""))
        self.error, self.again = error, bool(which)


class WrongReturnError(TypeError):
    """A pass returns something that is no module."""


class Trial:
    """A pass, what it is tried on, and what came of it; each is run once, whoever asks.

    Attributes:
        before: the module, as no pass has seen it: its graph and modules are copies, its tensors are those of the
            module, but for fresh numbers, in whose place it has others.
        inputs: by position; those by name are in ``inputs.kwargs``, and ``calling.call`` calls a module with both.
        asked: of how many inputs the invariant that is asked at the moment was asked: set it, where it is not one.
        shaken: the names of the tensors that held fresh numbers.
        not_compared: what could not be compared, in words, and which invariant is about it.
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
        """The pass is not run before somebody asks for it; the module is, on the inputs.

        Raises:
            TypeError: there is no graph, or the inputs are no tuple; the message says what to pass.
            ValueError: the module does not run on the inputs.
        """
        self.run, self.given = _checked(run), module
        self.module = _graph_of(module)
        self.inputs_given = inputs is not None or bool(kwargs)
        drawn = (() if inputs is None else inputs) if self.inputs_given else inputs_for(self.module)
        self.inputs = checked(drawn, kwargs)
        self._others = None if others is None else [self._other(one) for one in others]
        for name, limit in (("rtol", rtol), ("atol", atol)):
            if not (limit is None or (isinstance(limit, numbers.Real) and limit >= 0)):
                raise TypeError(f"{name} is {limit!r}: give a number that is not negative, or None")
        self.rtol, self.atol = rtol, atol
        self.asked = 1
        self._runs = 0
        self.shaken: list[str] = []
        self.not_compared: dict[str, str] = {}
        if (error := self._prepared()) is not None:
            which = (
                "the inputs" if self.inputs_given else "inputs that were drawn for it: give `inputs`, which it takes"
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
        """Make `before`, without fresh numbers unless it raises without them; what it raises with them, too."""
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
        """Inputs of other sizes on which the module runs: those that were given, or all that are open made others."""
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
        """The graph before the pass and after it, as plain data."""
        return record(self.before), record(self.after)

    @functools.cached_property
    def first(self) -> Ran:
        """What the pass made of the module."""
        return self._ran(self.given)

    @functools.cached_property
    def second(self) -> Ran:
        """What it made of an equal one. Whoever has asked deletes it: it holds a copy of all weights."""
        return self._ran(self.given, "on an equal module")

    @functools.cached_property
    def twice(self) -> Ran:
        """What it made of its own result. Whoever has asked deletes it, as ``second``."""
        return self._ran(self.first.made, "on its own result")

    @property
    def after(self) -> fx.GraphModule:
        """The module that came out."""
        return self.first.after

    def outcomes(self, inputs: Sequence[Any]) -> tuple[Outcome, Outcome]:
        """What the module gives for inputs before the pass, and after it."""
        return outcome(self.before, inputs), outcome(self.after, inputs)

    def _ran(self, source: Tried, which: str = "") -> Ran:
        """Run the pass on a copy; the source tells afterwards what it has written into."""
        given = copied(source) if isinstance(source, fx.GraphModule) else copy.deepcopy(source)
        parameters = dict(_graph_of(given).named_parameters(remove_duplicate=False))
        nodes = {node.name: (node.op, dict(node.meta)) for node in _graph_of(given).graph.nodes}
        originals, tensors = _stored(source), _stored(given)
        own_inputs = [leaf for leaf in pytree.tree_leaves(self.inputs) if isinstance(leaf, Tensor)]
        for place, leaf in enumerate(own_inputs):
            if dense(leaf):
                originals[f"input {place}"], tensors[f"input {place}"] = leaf.detach().clone(), leaf
            else:
                self.leave_out(f"whether the pass writes into input {place}")
        wants = {name: held.requires_grad for name, held in tensors.items()}
        # The model that a graph was traced from holds the same ones.
        called = dict(_called(given)) if isinstance(given, fx.GraphModule) else {}
        looks = {path: _look(module) for path, module in called.items()}
        # In each run with another seed: what a pass draws is no property of the module.
        self._runs += 1
        process = Process(SEED + 2 * self._runs)
        before = GlobalStateSnapshot((), [], "the pass")
        traced: list[str] = []
        try:
            with watched(_graph_of(given), traced):
                returned = self.run(given)
            besides = [*before.side_effects(), *process.side_effects()]
        except Exception as error:
            raise PassRaisedError(error, which) from error
        finally:
            before.put_back()
            process.put_back()
        for name, held in tensors.items():
            if not self._same(originals[name], held, name):
                besides.append(f"{name} holds other values: it is written into, not replaced")
            elif held.requires_grad != wants[name]:
                besides.append(f"{name} has another requires_grad")
        for path, module in called.items():
            if said := _otherwise(looks[path], _look(module)):
                besides.append(f"the module `{path}`, which others may hold too, has {said}")
        made = returned_program(returned, given) if isinstance(given, ExportedProgram) else None
        after = returned_module(returned, given) if made is None else made.module()
        other = replaced(parameters, given, after) if isinstance(given, fx.GraphModule) else None
        return Ran(
            returned,
            after,
            nodes,
            tuple(besides),
            tuple(traced),
            other,
            after is given,
            after if made is None else made,
        )

    def _same(self, before: Tensor, now: Tensor, name: str) -> bool:
        try:
            return before.shape == now.shape and before.dtype == now.dtype and same_bytes(before, now)
        except Exception:
            self.leave_out(f"whether the pass writes into {name}")
            return True

    def leave_out(self, what: str, of: str = "purity") -> None:
        """Note something that an invariant does not compare."""
        self.not_compared.setdefault(what, of)


def _checked(run: Any) -> Pass:
    """The pass itself.

    Raises:
        TypeError: it cannot be one; the message says what to give.
    """
    kind = type(run).__name__
    if isinstance(run, fx.GraphModule | ExportedProgram | fx.Graph):
        raise TypeError(f"the pass is a {kind}, as if the arguments were swapped: check_pass(pass, module, inputs)")
    if not callable(run):
        raise TypeError(
            f"the pass is of type {kind}: give the function itself, which gets a GraphModule and returns "
            "PassResult(module, modified)"
        )
    return run


def _graph_of(tried: Any) -> fx.GraphModule:
    """The module whose graph is tried.

    Raises:
        TypeError: there is none; the message says what to pass.
    """
    if isinstance(tried, fx.GraphModule):
        return tried
    if isinstance(tried, ExportedProgram):
        return tried.module()
    kind = type(tried).__name__
    if isinstance(getattr(tried, "graph", None), fx.Graph):
        cure = "pass program.module() of the ExportedProgram that it was made from"
    elif isinstance(tried, fx.Graph):
        cure = "pass the module that owns it; for a pass over a Graph, over_graph(pass_)"
    elif isinstance(tried, nn.Module) or callable(tried):
        cure = "trace it, with torch.fx.symbolic_trace(model)"
    else:
        cure = "pass the module, and the inputs behind it"
    raise TypeError(f"a pass is tried on a GraphModule or an ExportedProgram, got {kind}: {cure}")


def _stored(tried: Tried) -> dict[str, Tensor]:
    held = tensors_of(tried) if isinstance(tried, nn.Module) else {**tried.state_dict, **tried.constants}
    return {f"the weight `{name}`": one for name, one in held.items() if isinstance(one, Tensor)}


def _with_numbers(program: ExportedProgram, module: fx.GraphModule) -> ExportedProgram:
    """The same program, with the parameters and buffers of a module that was made of it."""
    held = tensors_of(module)
    new = copy.copy(program)
    new._state_dict = {name: held.get(name, one) for name, one in program.state_dict.items()}
    return new


def shared_copy(module: fx.GraphModule) -> fx.GraphModule:
    """A copy of the graph and of all modules, which holds the same tensors."""
    return copied(module, {id(held): held for held in tensors_of(module).values()})


@contextlib.contextmanager
def outside_modes() -> Iterator[None]:
    """Leave the modes of the caller in which there are no numbers, as in a compiler, or no gradients to compare."""
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    with unset_fake_temporarily(), torch.inference_mode(False), torch.enable_grad():
        yield


def outcome(module: nn.Module, inputs: Sequence[Any], *, first: Sequence[Any] | None = None) -> Outcome:
    """Run a module on copies of the inputs, from a seed; the module's own tensors are put back afterwards.

    ``first`` are inputs that it is run on before.
    """
    own = copy.deepcopy(inputs if isinstance(inputs, Inputs) else tuple(inputs))
    try:
        # torch.fx prints the line of the graph that raises.
        with kept(module) as before, torch.no_grad(), contextlib.redirect_stderr(io.StringIO()):
            if first is not None:
                call(module, copy.deepcopy(first))
                torch.default_generator.manual_seed(SEED)
            result = call(module, own)
            layout, result = layout_of(result), detached(result)
            held = {name: one.detach() for name, one in tensors_of(module).items()}
            written = {name for name in before if name in held and not same_bytes(before[name], held[name])}
            # What is not written is put nowhere back: it needs no copy.
            state = {name: one.clone() if name in written else one for name, one in held.items()}
        left = detached(own)
        return Outcome(result, (*left, *getattr(left, "kwargs", {}).values()), state, frozenset(written), layout)
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
                if not same_bytes(held, held_before[name]):
                    held.copy_(held_before[name])


def same_bytes(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors of one shape hold the same; of two that are not dense, whether torch finds them equal.

    Raises:
        Exception: torch cannot compare such tensors.
    """
    if one.layout != other.layout:
        return False
    if dense(one) and dense(other):
        return torch.equal(one, other) or torch.equal(bytes_of(one), bytes_of(other))
    if one.is_mkldnn:
        return torch.equal(one.to_dense(), other.to_dense())
    if one.layout == torch.sparse_coo:
        return same_bytes(one.to_dense(), other.to_dense())
    return one.is_meta or torch.equal(one, other)


def tensors_of(module: nn.Module) -> dict[str, Tensor]:
    """Parameters, buffers and other tensors that a module holds, by name; one that is held twice is there twice."""
    return {
        f"{path}.{name}" if path else name: held
        for path, below in module.named_modules(remove_duplicate=False)
        for name, held in held_by(below)
    }


def detached(result: Any) -> Any:
    """A result whose tensors are copies, without what autograd knows of them; of a nested one, a list of its parts."""

    def copied(tensor: Tensor) -> Tensor | list[Tensor]:
        parts = [part.clone() for part in tensor.detach().unbind()] if tensor.is_nested else None
        return tensor.detach().clone() if parts is None else parts

    return pytree.tree_map_only(Tensor, copied, result)


def dense(leaf: Any) -> bool:
    """Whether it is a tensor whose numbers lie in a storage, one behind the other."""
    return isinstance(leaf, Tensor) and leaf.layout == torch.strided and not (leaf.is_meta or leaf.is_nested)


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
    raise WrongReturnError(f"the pass returns {type(returned).__name__}: return PassResult(module, modified)")


def returned_program(returned: Any, given: ExportedProgram) -> ExportedProgram:
    """The program that a pass over programs hands back, itself or in the ``exported_program`` of a result.

    Raises:
        TypeError: it hands back something else; the message says what to return.
    """
    found = given if returned is None else getattr(returned, "exported_program", returned)
    if isinstance(found, ExportedProgram):
        return found
    raise WrongReturnError(
        f"the pass returns {type(returned).__name__} for an ExportedProgram: return the program, or give "
        "program.module() to a pass over a GraphModule"
    )


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
