"""Tools for forging observations: the claims of a right answer with the graph of a wrong one.

An attack on the judge is a generator in ``attacks/judging`` that gets an observation and yields changed ones, or any
other JSON. Its docstring says what it tries and what harm it would do.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import inspect
import itertools
import json
import math
import runpy
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from classroom.sandbox import Sandbox
from classroom.tests.sandbox.harm import Came
from classroom.tests.sandbox.sandboxing import SEED, brief
from fxbook import tasks
from fxbook.observing.forked import run_in_child
from fxbook.observing.observe import observe
from fxbook.observing.prepare import prepare
from fxbook.tasks.answering import answers_to

JSON = Any
Forged = Iterator[JSON]
FORGERIES = Path(__file__).parent / "attacks" / "judging"
# An exercise that builds a graph, one that changes a model, and one whose answer is data.
BUILD, PASS, COMPUTE = "01-rotate-half", "01-unroll-sequential", "00-layers-in-order"
# How the judge reports that it believed a claim instead of computing it.
BELIEVED = "what the graph computes"


@dataclasses.dataclass(frozen=True)
class Forgery:
    """An attack on the judge; ``exercises`` are those whose observations it changes."""

    name: str
    exercises: tuple[str, ...]
    forged: Callable[[JSON], Forged]


def of(*exercises: str) -> Callable[[Callable[[JSON], Forged]], Callable[[JSON], Forged]]:
    """Apply an attack to observations of these exercises instead of :data:`BUILD`."""

    def decorate(forged: Callable[[JSON], Forged]) -> Callable[[JSON], Forged]:
        forged.exercises = exercises  # type: ignore[attr-defined]
        return forged

    return decorate


def forgeries() -> list[Forgery]:
    loaded = []
    for name, forged in itertools.chain.from_iterable(functions(file) for file in sorted(FORGERIES.glob("*.py"))):
        assert "\n    Harm: " in (forged.__doc__ or ""), f"{name}: say what harm it would do"
        loaded.append(Forgery(name, getattr(forged, "exercises", (BUILD,)), forged))
    return loaded


def functions(file: Path) -> Iterator[tuple[str, Callable]]:
    """The generators that a file defines, by name."""
    for name, value in runpy.run_path(str(file)).items():
        if inspect.isgeneratorfunction(value) and value.__code__.co_filename == str(file) and name[0] != "_":
            yield name, value


def each(forgery: Forgery, most: int | None = None) -> Iterator[tuple[str, JSON]]:
    """Yield an attack's observations with their exercises, one at a time.

    Args:
        forgery: the attack.
        most: how many of them, evenly spread; ``None`` for all.
    """
    exercises = [forgery.exercises[place] for place in spread(len(forgery.exercises), most)]

    def observations() -> Iterator[tuple[str, JSON]]:
        for exercise_id in exercises:
            for observation in forgery.forged(claims(exercise_id)):
                yield exercise_id, observation

    # All at once could take gigabytes.
    chosen = set(spread(sum(1 for _ in observations()), most))
    return (observation for place, observation in enumerate(observations()) if place in chosen)


def spread(count: int, most: int | None) -> Sequence[int]:
    """Evenly spread indices, including the first and the last."""
    return range(count) if most is None or count <= most else [at * (count - 1) // (most - 1) for at in range(most)]


def tried(sandbox: Sandbox, forgery: Forgery, most: int | None = None) -> Came:
    """Run an attack. It succeeds if it passes and the teacher is not told what the pass relies on."""
    texts, passed = [], False
    for exercise_id, observation in each(forgery, most):
        with brief(sandbox, 4.0, 60.0):
            outcome = sandbox.judge(exercise_id, observation, SEED)
        texts.append(f"{json.dumps(outcome.data, ensure_ascii=False)} {outcome.ended}")
        passed |= outcome.data is not None and is_unearned(exercise_id, outcome.data)
    return Came("\n".join(texts), passed)


def is_unearned(exercise_id: str, judgement: JSON) -> bool:
    """Whether a judgement passes without saying that it relies on claims."""
    exercise = tasks.find(exercise_id)
    assert exercise
    needed = "what the answer returned" if exercise.usage.use == "compute" else BELIEVED
    return not judgement["rule"] and not any(claim.startswith(needed) for claim in judgement["unproven"])


def claims(exercise_id: str) -> JSON:
    """An observation with the claims of a right answer and the graphs of a wrong one."""
    return _copied(_claims(exercise_id))


def truth(exercise_id: str) -> JSON:
    return _copied(_observed(exercise_id, right=True))


@functools.cache
def _claims(exercise_id: str) -> JSON:
    claimed, wrong = _observed(exercise_id, right=True), _observed(exercise_id, right=False)
    claimed = _copied(claimed)
    for case, other in zip(claimed["cases"], wrong["cases"], strict=False):
        if case["wire"] and other["wire"]:
            case.update(wire=other["wire"], origins=other["origins"])
    return claimed


@functools.cache
def _observed(exercise_id: str, right: bool) -> JSON:
    exercise = tasks.find(exercise_id)
    assert exercise
    for answer in answers_to(exercise_id):
        if bool(answer.violated) == right:
            continue
        # Wrong answers may hang.
        prepared = prepare(exercise, SEED, rebuildable=True)
        observation = run_in_child(functools.partial(observe, prepared, answer.answer), 2.0).data or {"cases": []}
        wires = [case["wire"] or {"refused": ""} for case in observation["cases"]]
        can_be_built = len(wires) == len(exercise.usage.cases) and not any("refused" in wire for wire in wires)
        if can_be_built or exercise.usage.use == "compute":
            return observation
    raise AssertionError(f"{exercise_id} has no such answer")


# ---- descriptions of graphs ------------------------------------------------------------------------------------------


def ref(place: int) -> JSON:
    """The node at an index, as an argument."""
    return {"node": place}


def node(op: str, target: JSON, *args: Any, name: JSON = None, **kwargs: Any) -> JSON:
    """A node with arguments in plain Python and from :func:`ref`."""
    positional = {"tuple": [described(value) for value in args]}
    named = {"dict": [[key, described(value)] for key, value in kwargs.items()]}
    return {"op": op, "name": name, "target": target, "args": positional, "kwargs": named}


def placeholder(name: str = "x") -> JSON:
    return node("placeholder", name, name=name)


def call(function: str, *args: Any, **kwargs: Any) -> JSON:
    return node("call_function", {"function": function}, *args, **kwargs)


def method(name: str, *args: Any, **kwargs: Any) -> JSON:
    return node("call_method", name, *args, **kwargs)


def output(value: Any) -> JSON:
    return node("output", "output", value, name="output")


def described(value: Any) -> JSON:
    """An argument in the form of a description; JSON is unchanged."""
    match value:
        case None | bool() | int() | str() | dict():
            return value
        case float():
            return {"float": repr(value)}
        case complex():
            return {"complex": [repr(value.real), repr(value.imag)]}
        case torch.Size():
            return {"size": list(value)}
        case tuple():
            return {"tuple": [described(item) for item in value]}
        case list():
            return [described(item) for item in value]
        case slice():
            return {"slice": [described(item) for item in (value.start, value.stop, value.step)]}
        case range():
            return {"range": [value.start, value.stop, value.step]}
        case torch.dtype():
            return {"dtype": str(value).removeprefix("torch.")}
        case torch.device():
            return {"device": str(value)}
        case _ if value is ...:
            return {"ellipsis": True}
        case _:
            raise TypeError(value)


def _copied(data: JSON) -> JSON:
    """A deep copy; for large observations, ``copy.deepcopy`` takes several times as long."""
    return json.loads(json.dumps(data))


def with_graph(observation: JSON, *nodes: JSON, **parts: JSON) -> JSON:
    """The observation with this graph in every case; ``parts`` replace parts of its description."""
    changed = _copied(observation)
    named = [
        {**entry, "name": f"n{place}" if entry["name"] is None else entry["name"]} for place, entry in enumerate(nodes)
    ]
    for case in changed["cases"]:
        case["wire"] = {**case["wire"], "nodes": named, **parts}
        case["origins"] = [None] * len(named)
    return changed


def computing(observation: JSON, *nodes: JSON, **parts: JSON) -> JSON:
    """The observation with a graph of one input, node 0, that returns its last node."""
    return with_graph(observation, placeholder(), *nodes, output(ref(len(nodes))), **parts)


def with_wire(observation: JSON, change: Callable[[JSON], Any]) -> JSON:
    """Change the description of the graph in every case."""
    changed = _copied(observation)
    for case in changed["cases"]:
        change(case["wire"])
        if isinstance(case["wire"], dict) and isinstance(case["wire"].get("nodes"), list):
            case["origins"] = [None] * len(case["wire"]["nodes"])
    return changed


def with_claims(observation: JSON, **claimed: JSON) -> JSON:
    changed = _copied(observation)
    for case in changed["cases"]:
        case.update(claimed)
    return changed


def full(**entry: JSON) -> JSON:
    """A complete description of a module."""
    parts: Mapping[str, JSON] = {"settings": {}, "children": {}, "parameters": {}, "buffers": {}, "attributes": {}}
    return {"training": False, **parts, **entry}


def tensor(*shape: int, dtype: str = "float32", parameter: bool = False) -> JSON:
    """A complete description of a tensor of zeros."""
    size = {"bool": 1, "float64": 8, "int64": 8}.get(dtype, 4)
    data = base64.b64encode(bytes(math.prod(shape) * size)).decode()
    return {"dtype": dtype, "shape": list(shape), "data": data, "parameter": parameter, "requires_grad": False}
