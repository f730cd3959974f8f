"""The specification of an exercise: the models to try an answer on, how to use the answer, and the rules to check."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import random
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import fx, nn

if TYPE_CHECKING:
    from fxbook.rules.rule import Rule
    from fxbook.rules.trial import Trial

Use = Literal["pass", "edit", "build", "object", "compute"]
Inputs = tuple[Any, ...]


def traced(module: nn.Module) -> Inputs:
    """Pass the traced model: the call is ``answer(fx.symbolic_trace(model))``."""
    return (fx.symbolic_trace(module),)


def eager(module: nn.Module) -> Inputs:
    """Pass the model itself: the call is ``answer(model)``."""
    return (module,)


@functools.lru_cache(maxsize=1)
def graph_of(model: nn.Module) -> fx.Graph:
    """The graph of a model, for an Interpreter that computes expected outputs; it is traced once for all inputs."""
    return fx.Tracer().trace(model)


def nothing(module: nn.Module) -> Inputs:
    """Pass no arguments: the call is ``answer()``."""
    return ()


def same_as_eager(module: nn.Module, *inputs: Any) -> Any:
    """The model's own outputs, which an exercise expects by default."""
    return module(*inputs)


@dataclasses.dataclass(frozen=True)
class Case:
    """One model to try the answer on.

    Args:
        name: what a report calls the model: ``"the two-layer MLP"``.
        build: makes the model after a fresh ``torch.manual_seed``, so weights may be random.
        inputs: makes one tuple of inputs; called with two different seeds, so that a constant output cannot pass.
        unseen: whether this model is new to the learner; if the answer fails only on such a model, the report says so.
        given: makes the arguments of the answer; overrides ``Usage.given``.
    """

    name: str
    build: Callable[[], nn.Module]
    inputs: Callable[[], Inputs]
    unseen: bool = False
    given: Callable[[nn.Module], Inputs] | None = None


# Processor time for an answer on all its cases, in a notebook.
SECONDS = 10.0

_RETURNS: dict[str, tuple[str, ...]] = {
    "pass": ("GraphModule",),
    "edit": ("GraphModule",),
    "build": ("Graph", "GraphModule"),
    "object": ("Graph", "GraphModule"),
    "compute": (),
}


@dataclasses.dataclass(frozen=True)
class Usage:
    """How to use an answer, and on which models. This is all that the answer's process knows about an exercise.

    Args:
        use: the kind of answer.
            ``"pass"``: called with a model, returns an ``fx.GraphModule`` (a ``PassResult`` is unpacked).
            ``"edit"``: called with an ``fx.GraphModule``, edits it in place, or returns a different module that
            replaces it. ``"build"``: called (with nothing, unless ``given`` says so), returns an ``fx.Graph`` or
            ``fx.GraphModule``. ``"object"``: is the ``fx.Graph`` or ``fx.GraphModule``. ``"compute"``: called, returns
            data (numbers, strings, tensors, nodes; lists, tuples, dicts of them).
        cases: the models to try it on; for a pass or an edit, at least one must be unseen. If the last case is unseen,
            the last input of its traced model gets the default ``None``, unless an input already has a default.
        given: makes the arguments of the answer from the model: ``traced``, ``eager``, ``nothing`` or a function that
            returns a tuple. Default: ``eager`` for a pass, ``traced`` for an edit, else ``nothing``.
        returns: the accepted kinds of result, of ``"Graph"`` and ``"GraphModule"``. Default: depends on ``use``.
        call: ``call(answer, *arguments)``, for an answer that is not called directly, for example ``lambda interpreter,
            module, x: interpreter(module).run(x)``. It runs with its own seed, in the answer's process, which knows
            neither the name nor the position of the case.
        seconds: processor time for an answer on all its cases in a notebook, where it may take six times as much
            wall time. The grader allows every answer 10 s of processor time.

    Raises:
        ValueError: there is no case, or a pass or an edit has no unseen model.
    """

    use: Use
    cases: tuple[Case, ...]
    given: Callable[[nn.Module], Inputs] | None = None
    returns: tuple[str, ...] | None = None
    call: Callable[..., Any] | None = None
    seconds: float = SECONDS

    def __post_init__(self) -> None:
        if not self.cases:
            raise ValueError("give at least one Case")
        if self.use in ("pass", "edit") and not any(case.unseen for case in self.cases):
            raise ValueError("give a Case(…, unseen=True), a model the learner has not seen")

    def kinds(self) -> tuple[str, ...]:
        return _RETURNS[self.use] if self.returns is None else self.returns

    def arguments(self, case: Case, module: nn.Module, seed: int = 0) -> Inputs:
        default = {"pass": eager, "edit": traced}.get(self.use, nothing)
        with seeded(seed):
            arguments = (case.given or self.given or default)(module)
        if self.use in ("pass", "edit") and case.unseen and case is self.cases[-1]:
            _give_a_default(arguments)
        _register_last_first(arguments)
        return arguments


def _register_last_first(arguments: Inputs) -> None:
    """Make ``find_nodes(sort=False)`` find the last nodes of the list first, as it may after an edit.

    The next compilation of the graph undoes this.
    """
    for item in arguments:
        graph = item.graph if isinstance(item, fx.GraphModule) else item
        if isinstance(graph, fx.Graph):
            for node in reversed(graph.nodes):
                node.target = node.target


def _give_a_default(arguments: Inputs) -> None:
    """Give the last input of a traced model a default, if no input has one: an answer that rebuilds must keep it.

    A graph whose compiled code is stale stays as it is.
    """
    traced_model = next((item for item in arguments if isinstance(item, fx.GraphModule)), None)
    if traced_model is None or type(traced_model.graph._codegen) is not fx.graph.CodeGen:
        return
    if traced_model.code != traced_model.graph.python_code("self").src:
        return
    inputs = traced_model.graph.find_nodes(op="placeholder")
    if inputs and not any(node.args or node.target.startswith("*") for node in inputs):
        inputs[-1].args = (None,)
        traced_model.recompile()


@dataclasses.dataclass(frozen=True)
class ExtraOutput:
    """A part of the outputs that the answer's graph does not determine, because ``Usage.call`` ran the answer itself.

    ``name`` is its key in each output, which is a dict. ``again`` computes it from a rebuilt graph.
    ``unproven`` says what a judge that has only the graph must take on trust, worded for a teacher.
    """

    name: str
    again: Callable[[Any], Any]
    unproven: str


@dataclasses.dataclass(frozen=True)
class Check:
    """What an answer must satisfy. Only the judge knows it.

    Args:
        rules: the most important first, since only the first violation is reported. The judge always checks
            beforehand that the answer can be called, does not raise and returns the right kind.
        expected: computes the expected outputs from the eager model and the inputs. Default: the model's own.
        extra_output: what the outputs contain besides what the answer's graph computes.
        on_error: takes the case and the class name of an error that the answer raised, and returns a sentence that
            the report adds, or ``None``.
    """

    rules: tuple[Rule, ...]
    expected: Callable[..., Any] = same_as_eager
    extra_output: ExtraOutput | None = None
    on_error: Callable[[Trial, str], str | None] | None = None


@dataclasses.dataclass(frozen=True)
class Exercise:
    """An exercise: everything that a check needs, without the solution. Its ``id`` comes from the manuscript."""

    id: str
    usage: Usage
    check: Check

    def on(self, cases: Iterable[Case]) -> Exercise:
        unseen = tuple(dataclasses.replace(case, unseen=True) for case in cases)
        return dataclasses.replace(self, usage=dataclasses.replace(self.usage, cases=unseen))


DRAWS = 2


def seed_of(seed: int, place: int) -> int:
    return seed + 1000 * place


def model_of(case: Case, seed: int) -> nn.Module:
    with seeded(seed):
        return case.build()


def inputs_of(case: Case, seed: int) -> list[Inputs]:
    drawn = []
    for draw in range(DRAWS):
        with seeded(seed + 1 + draw):
            drawn.append(case.inputs())
    return drawn


def drawn_order(exercise: Exercise, seed: int) -> list[int]:
    """The order of the cases for an answer; shuffled if the answer is data, because the position would reveal it."""
    order = list(range(len(exercise.usage.cases)))
    if exercise.usage.use == "compute":
        random.Random(seed).shuffle(order)
    return order


def one_of(*choices: Any) -> Any:
    return choices[int(torch.randint(len(choices), ()))]


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch for the body, on the CPU and in float32, then restore the caller's random state and defaults."""
    dtype, device = torch.get_default_dtype(), torch.get_default_device()
    # Set only if it differs: an explicit default device adds itself to the arguments of traced calls.
    elsewhere = device.type != "cpu"
    try:
        if elsewhere:
            torch.set_default_device(None)
        torch.set_default_dtype(torch.float32)
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            yield
    finally:
        torch.set_default_dtype(dtype)
        if elsewhere:
            torch.set_default_device(device)
