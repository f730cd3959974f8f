"""What an exercise asks: the models it is tried on, how the answer is used, and the rules that must hold."""

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
    """The answer is called with the traced model: ``answer(fx.symbolic_trace(model))``."""
    return (fx.symbolic_trace(module),)


def eager(module: nn.Module) -> Inputs:
    """The answer is called with the model itself: ``answer(model)``."""
    return (module,)


@functools.lru_cache(maxsize=1)
def graph_of(model: nn.Module) -> fx.Graph:
    """The graph of a model, for an Interpreter that computes what is expected: traced once for all inputs."""
    return fx.Tracer().trace(model)


def nothing(module: nn.Module) -> Inputs:
    """The answer is called without arguments: ``answer()``."""
    return ()


def same_as_eager(module: nn.Module, *inputs: Any) -> Any:
    """What the model itself returns: the outputs expected where an exercise says nothing else."""
    return module(*inputs)


@dataclasses.dataclass(frozen=True)
class Case:
    """One model to try the answer on.

    Args:
        name: how a report calls the model: ``"the two-layer MLP"``.
        build: makes the model; called under a fresh ``torch.manual_seed``, so weights may be random.
        inputs: makes one tuple of inputs; called twice, under other seeds, so a fixed output cannot pass.
        unseen: the learner has not seen this model; a failure here is told as an answer that fits one model only.
        given: what the answer is called with, where it differs from ``Usage.given``.
    """

    name: str
    build: Callable[[], nn.Module]
    inputs: Callable[[], Inputs]
    unseen: bool = False
    given: Callable[[nn.Module], Inputs] | None = None


# Of wall time, for an answer on all its cases, in a notebook.
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
    """How an answer is used, and on which models: all that is known where answers run.

    Args:
        use: how the answer is used.
            ``"pass"``: called with a model, returns an ``fx.GraphModule`` (a ``PassResult`` is unpacked).
            ``"edit"``: called with an ``fx.GraphModule``, edits it; only another module that it returns counts.
            ``"build"``: called (with nothing, unless ``given`` says so), returns an ``fx.Graph`` or ``fx.GraphModule``.
            ``"object"``: is the ``fx.Graph`` or ``fx.GraphModule``.
            ``"compute"``: called, returns data (numbers, strings, tensors, nodes; lists, tuples, dicts of them).
        cases: the models it is tried on; of a pass or an edit at least one is unseen.
        given: what the answer is called with: ``traced``, ``eager``, ``nothing`` or a function of the model that
            returns the tuple of arguments. Default: ``eager`` for a pass, ``traced`` for an edit, else ``nothing``.
        returns: the kinds of result accepted, of ``"Graph"`` and ``"GraphModule"``. Default: as ``use`` says.
        call: uses the answer where calling it is not what the exercise asks: ``call(answer, *arguments)``, for example
            ``lambda interpreter, module, x: interpreter(module).run(x)``. It runs in the learner's half, where
            neither name nor place tells a case, and under a seed of its own.
        seconds: of wall time, for an answer on all its cases in a notebook: more where a usual answer takes long. The
            grader allows 10 s of the processor to every answer.

    Raises:
        ValueError: no case, or a pass or an edit without an unseen model.
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
        """The kinds of result accepted; empty: any."""
        return _RETURNS[self.use] if self.returns is None else self.returns

    def arguments(self, case: Case, module: nn.Module, seed: int = 0) -> Inputs:
        """What the answer is called with for this case."""
        default = {"pass": eager, "edit": traced}.get(self.use, nothing)
        with seeded(seed):
            return (case.given or self.given or default)(module)


@dataclasses.dataclass(frozen=True)
class ExtraOutput:
    """A part of the outputs that the answer's graph does not tell, since the answer itself was run.

    Args:
        name: its key among the outputs, each of which is a dict.
        again: makes of a graph that was built again what ``call`` made of the answer.
        unproven: what a judge that has only the graph takes on trust, in words for a teacher.
    """

    name: str
    again: Callable[[Any], Any]
    unproven: str


@dataclasses.dataclass(frozen=True)
class Check:
    """What is asked of an answer: all that only the judge knows.

    Args:
        rules: what must hold, in the order in which a violation is worth telling; the first one found is told. That the
            answer can be called, does not raise and returns the right kind is checked before, always.
        expected: the outputs asked for, as a function of the eager model and the inputs. Default: the model's own.
        extra_output: what the outputs hold besides what the answer's graph computes.
        on_error: what a report says, besides the error, of an answer that raises: a function of the case and of the
            name of the error's class, which returns a sentence or ``None``.
    """

    rules: tuple[Rule, ...]
    expected: Callable[..., Any] = same_as_eager
    extra_output: ExtraOutput | None = None
    on_error: Callable[[Trial, str], str | None] | None = None


@dataclasses.dataclass(frozen=True)
class Exercise:
    """An exercise: everything the two halves of a check need, and no solution.

    Args:
        id: ``"01-relu-by-hand"``, as in the manuscript.
        usage: how an answer is used, and on which models.
        check: what is asked of it.
    """

    id: str
    usage: Usage
    check: Check

    def on(self, cases: Iterable[Case]) -> Exercise:
        """The same on other cases, which no learner has seen."""
        unseen = tuple(dataclasses.replace(case, unseen=True) for case in cases)
        return dataclasses.replace(self, usage=dataclasses.replace(self.usage, cases=unseen))


DRAWS = 2


def seed_of(seed: int, place: int) -> int:
    """The seed of a case, by its place in the exercise, under a seed of the exercise."""
    return seed + 1000 * place


def model_of(case: Case, seed: int) -> nn.Module:
    """The model of a case: the same for the same seed, in any process."""
    with seeded(seed):
        return case.build()


def inputs_of(case: Case, seed: int) -> list[Inputs]:
    """The inputs the result is run on."""
    drawn = []
    for draw in range(DRAWS):
        with seeded(seed + 1 + draw):
            drawn.append(case.inputs())
    return drawn


def drawn_order(exercise: Exercise, seed: int) -> list[int]:
    """The places of the cases in the order in which an answer meets them: where it is data, its place would tell it."""
    order = list(range(len(exercise.usage.cases)))
    if exercise.usage.use == "compute":
        random.Random(seed).shuffle(order)
    return order


def one_of(*choices: Any) -> Any:
    """One of these, drawn under torch's seed: for what a case makes anew each time."""
    return choices[int(torch.randint(len(choices), ()))]


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch for the body, on the CPU and in float32; the caller's random state and defaults come back after it."""
    dtype, device = torch.get_default_dtype(), torch.get_default_device()
    # Set only where it differs: a device that is set adds itself to the arguments of calls that tracing records.
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
