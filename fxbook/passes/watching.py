"""Notice when a pass traces the module again, with any front end."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
from torch import fx, nn


@contextlib.contextmanager
def watched(given: fx.GraphModule, traced: list[str]) -> Iterator[None]:
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
    """Further functions that make a graph by running a module, if this version of torch has them."""
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
