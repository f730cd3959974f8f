"""Turn an answer of any kind into a callable: a function, a callable object, a class, or the graph itself."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn

from fxbook.cases.exercise import Usage
from fxbook.observing.prepare import Prepared

_GRAPHS = (fx.Graph, fx.GraphModule)
# Results of a function. If an exercise defines ``call``, its answer may be a dict or a list of functions.
_PLAIN = (bool, int, float, str)
_Module, _Tensor, _Transformer, _trace = nn.Module, torch.Tensor, fx.Transformer, fx.symbolic_trace


class UnusableError(Exception):
    """An answer that cannot be used; the message tells the learner what to pass."""


def caller(usage: Usage | Prepared, answer: Any) -> Callable[..., Any]:
    """What to call with the arguments of each case; raises :class:`UnusableError` for an answer of another kind."""
    if usage.use == "object":
        return _the_object(answer)
    if answer is None:
        raise UnusableError("The answer is None: pass your function itself, by its name.")
    if usage.call is not None:
        if isinstance(answer, (*_GRAPHS, _Tensor, *_PLAIN)):
            kinds = (*_GRAPHS, _Tensor, *_PLAIN)
            kind = next(kind.__name__ for kind in kinds if isinstance(answer, kind))
            raise UnusableError(f"The answer is of type {kind}: pass your function itself, or your class, by its name.")
        return functools.partial(_used, usage.call, _as_function(usage, answer))
    if isinstance(answer, (*_GRAPHS, _Module)) or type(answer).__name__ == "PassResult":
        kind = next((kind.__name__ for kind in _GRAPHS if isinstance(answer, kind)), type(answer).__name__)
        raise UnusableError(
            f"The answer is a {kind}, which your function returned: pass the function itself, without ()."
        )
    if isinstance(answer, type):
        return _class_caller(answer)
    if not callable(answer):
        raise UnusableError(f"The answer is of type {type(answer).__name__}: pass your function itself, by its name.")
    return answer


def _used(call: Callable[..., Any], answer: Any, *arguments: Any) -> Any:
    return call(answer, *arguments)


def _as_function(usage: Usage | Prepared, answer: Any) -> Any:
    if not isinstance(answer, type) or (issubclass(answer, _Transformer) and usage.use not in ("pass", "edit")):
        return answer
    try:
        return _class_caller(answer)
    except UnusableError:
        return answer


def _the_object(answer: Any) -> Callable[..., Any]:
    if isinstance(answer, _GRAPHS):
        return lambda *_: answer
    if callable(answer) and not isinstance(answer, _Module):
        name = getattr(answer, "__name__", "function")
        raise UnusableError(f"The answer is `{name}` itself, which was not called: pass the graph that it returns.")
    raise UnusableError(f"The answer is of type {type(answer).__name__}: pass an fx.Graph or an fx.GraphModule.")


def _class_caller(answer: type) -> Callable[..., Any]:
    if issubclass(answer, _Transformer) and not _is_called(answer):
        return lambda module: answer(module if isinstance(module, _GRAPHS) else _trace(module)).transform()
    if issubclass(answer, _Module):
        raise UnusableError(
            f"The answer is the class `{answer.__name__}`, a module: pass a function that returns the result."
        )
    if not _is_called(answer):
        raise UnusableError(f"The class `{answer.__name__}` has no __call__, so it cannot be used as a function.")
    try:
        instance = answer()
    except TypeError:
        raise UnusableError(
            f"The class `{answer.__name__}` cannot be made without arguments: pass an instance, `{answer.__name__}(…)`."
        ) from None
    return instance


def _is_called(answer: type) -> bool:
    return any("__call__" in vars(base) for base in answer.__mro__)
