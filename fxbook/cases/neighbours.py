"""Layers that are easily mistaken for the layer or function that a task names.

An answer that is meant to change each ``nn.ReLU`` may also change ``nn.LeakyReLU``, or miss ``x.relu()``. A model with
both::

    self.near = near(nn.ReLU)                                       # in __init__
    pooled = [self.pool(one(image)) for one in self.near.values()]  # in forward

Nothing is listed by hand. The neighbours are the classes and functions with the most similar names; the same call as a
function, as a method, in place and by keyword; another library's function with the same name; and the layer itself,
nested more deeply or under another attribute name.
"""

from __future__ import annotations

import difflib
import functools
import itertools
import operator
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import handle_torch_function, has_torch_function

Make = Callable[[], nn.Module]
_SPACES = {"torch": torch, "function": nn.functional, "operator": operator, "method": Tensor}


def near(
    noun: Any,
    *settings: Any,
    on: tuple[int, ...] = (1, 2, 8, 8),
    inputs: int = 1,
    most: int = 6,
    without: tuple[str, ...] = (),
    **named: Any,
) -> nn.ModuleDict:
    """New layers that are similar to a ``torch.nn`` class or a torch function, by descriptive names.

    Args:
        noun: what the task names: ``nn.MaxPool2d``, ``torch.softmax``, ``operator.add``.
        settings: arguments of the class, or of the function after its tensors; ``named`` are the keyword arguments.
        on: the shape of each input tensor. Neighbours that draw random numbers or warn are left out.
        inputs: how many tensors each layer takes.
        most: the maximum number of classes, and likewise of functions with another name.
        without: what the task excludes: ``"keyword"``, ``"writes"`` for calls that write in place, or another name.
    """
    makers = _found(noun, settings, tuple(named.items()), (on,) * inputs, most)
    left_out = {name for name in makers if _writes(name.partition("_")[2])} if "writes" in without else ()
    return nn.ModuleDict({name: make() for name, make in makers.items() if name not in (*without, *left_out)})


def used_by(value: Tensor, count: int) -> list[Tensor]:
    return [value * (number + 2) for number in range(count)]


@functools.cache
def namesake(name: str) -> Callable[..., Tensor]:
    """A function with that name that tracing records as one call. It halves its input."""

    def function(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if has_torch_function((x,)):
            return handle_torch_function(function, (x,), x, *args, **kwargs)
        return x / 2

    function.__name__ = function.__qualname__ = name
    # The grader rebuilds a graph from the names of its functions, so this one must be found by its name.
    globals().setdefault(name, function)
    return function


class Calling(nn.Module):
    """A call on tensors and on the weights of a layer; tracing records the call itself."""

    def __init__(self, call: Callable[..., Any], layer: nn.Module | None = None, *weights: str) -> None:
        super().__init__()
        self.call, self.layer, self.weights = call, layer, weights

    def forward(self, *tensors: Tensor) -> Any:
        if self.layer is None:
            return self.call(*tensors)
        held = [getattr(self.layer, name) for name in self.weights]
        return self.call(*tensors, *(held or [self.layer]))


@functools.cache
def _found(
    noun: Any, settings: tuple[Any, ...], named: tuple[tuple[str, Any], ...], shapes: tuple[tuple[int, ...]], most: int
) -> dict[str, Make]:
    """A factory for each neighbour that accepts tensors of these shapes."""
    with torch.random.fork_rng(devices=[]), torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        # Seeded, so that every process identifies the same calls as drawing random numbers.
        torch.manual_seed(0)
        tensors = [torch.randn(shape) for shape in shapes]
        # The neighbours of a dropout draw random numbers, so they are tried in eval mode.
        working = functools.partial(_working, tensors, "dropout" not in noun.__name__.lower())
        given = (noun, settings, dict(named))
        classes, others = working(_classes(*given)), working(_functions(*given, is_other=True))
        spelled = [*working(_functions(*given)), *working(_places(*given))]
        return dict([*itertools.islice(classes, most), *itertools.islice(others, most), *spelled])


def _working(
    tensors: list[Tensor], training: bool, candidates: Iterator[tuple[str, list[Make]]]
) -> Iterator[tuple[str, Make]]:
    for name, ways in candidates:
        make = next((make for make in ways if _works(tensors, training, make)), None)
        if make:
            yield name, make


def _works(tensors: list[Tensor], training: bool, make: Make) -> bool:
    try:
        layer = make().train(training)
        first, *others = (layer(*tensors) for _ in range(4))
    except Exception:
        return False
    return isinstance(first, Tensor) and all(torch.equal(first, other) for other in others)


def _classes(noun: Any, settings: tuple[Any, ...], named: dict[str, Any]) -> Iterator[tuple[str, list[Make]]]:
    """The classes with the most similar names, the most similar first, and the ways to make each."""
    word, is_class = _plain(noun.__name__), isinstance(noun, type)
    dims = _weight_dims(noun, settings, named)
    found = {name: kind for name, kind in vars(nn).items() if isinstance(kind, type) and issubclass(kind, nn.Module)}
    for name in _by_likeness(found, word):
        kind = found[name]
        # A lazy layer becomes another class on its first call.
        if (is_class and issubclass(kind, noun)) or name.startswith("Lazy"):
            continue
        is_alike = word in _plain(name) and _likeness(name, word) > 0.5
        is_alike = is_alike or (is_class and kind.__module__ == noun.__module__)
        if is_alike or (dims and dims == _weight_dims(kind, settings, named)):
            ways: list[Make] = [functools.partial(kind, *settings, **named), kind]
            if "Embedding" in name:  # It takes row indices.
                ways.append(lambda kind=kind: Calling(lambda x, table: table(x.argmax(-1, True)), kind(*settings)))
            if kind is nn.Bilinear:
                ways.append(lambda: Calling(lambda x, layer: layer(x, x), nn.Bilinear(*settings, settings[-1])))
            yield f"class_{name.lower()}", ways


def _weight_dims(kind: Any, settings: tuple[Any, ...], named: dict[str, Any]) -> int:
    try:
        return kind(*settings, **named).weight.dim() if isinstance(kind, type) else 0
    except Exception:
        return 0


def _functions(
    noun: Any, settings: tuple[Any, ...], named: dict[str, Any], is_other: bool = False
) -> Iterator[tuple[str, list[Make]]]:
    """Functions and methods with the same name, apart from case and underscores, or with a similar one."""
    word, make = _plain(noun.__name__), functools.partial(noun, *settings, **named)
    found = {f"{space}_{name}": (held, name) for space, held in _SPACES.items() for name in dir(held) if name[0] != "_"}
    for called in _by_likeness(found, word):
        held, name = found[called]
        function = name if held is Tensor else getattr(held, name)
        is_near = _likeness(name, word) > (0.5 if word in _plain(name) else 0.8)
        if not is_near or is_other == (_plain(name) == word) or function is noun or not callable(getattr(held, name)):
            continue
        call = functools.partial(_call, function, settings, named)
        if isinstance(noun, type):
            ways: list[Make] = [
                functools.partial(Calling, call),
                lambda function=function: Calling(function, make(), "weight", "bias"),
                lambda function=function: Calling(function, make(), "weight"),
            ]
        else:
            placed = functools.partial(_call, function, (*settings, *named.values()), {})
            ways = [functools.partial(Calling, placed), functools.partial(Calling, call)]
        yield called, ways


def _places(noun: Any, settings: tuple[Any, ...], named: dict[str, Any]) -> Iterator[tuple[str, list[Make]]]:
    word, make = _plain(noun.__name__), functools.partial(noun, *settings, **named)
    if isinstance(noun, type):
        yield "deeper", [lambda: nn.Sequential(nn.Sequential(OrderedDict(tanh=make())))]
        yield "keyword", [lambda: Calling(lambda x, layer: layer(input=x), make())]
        yield word, [nn.Softsign]
    else:
        yield "keyword", [lambda: Calling(lambda x, *more: noun(*more, *settings, input=x, **named))]
        if named:
            yield "named", [lambda: Calling(lambda *tensors: noun(*tensors, *settings, **named))]
    yield "namesake", [lambda: Calling(namesake(word if isinstance(noun, type) else noun.__name__))]


def _call(
    function: Callable[..., Any] | str, settings: tuple[Any, ...], named: dict[str, Any], x: Tensor, *more: Tensor
) -> Any:
    name = function if isinstance(function, str) else function.__name__
    # The call may write into its own copy only.
    x = x.clone() if _writes(name) else x
    return getattr(x, name)(*more, *settings, **named) if function is name else function(x, *more, *settings, **named)


def _writes(name: str) -> bool:
    return name.endswith("_") or (name.startswith("i") and hasattr(operator, name) and hasattr(operator, name[1:]))


def _by_likeness(names: Iterable[str], word: str) -> list[str]:
    return sorted(names, key=lambda name: (word not in _plain(name), -_likeness(name, word)))


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


@functools.cache
def _likeness(name: str, word: str) -> float:
    return difflib.SequenceMatcher(None, _plain(name), word).ratio()
