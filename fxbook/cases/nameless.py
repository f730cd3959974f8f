"""Hide the names and locations of functions and models that would reveal the answer."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

from torch import nn

# A path that is neither the learner's file nor any other existing file.
_FILE = str(Path(__file__).with_name("given"))


def nameless(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function without its name, its file and its line."""
    assert isinstance(function, FunctionType)
    code = function.__code__.replace(co_name="function", co_qualname="function", co_filename=_FILE, co_firstlineno=1)
    used = {name: function.__globals__[name] for name in code.co_names if name in function.__globals__}
    # The C code of torch imports modules through the builtins of the running function.
    names = {"__builtins__": builtins, **used}
    return FunctionType(code, names, "function", function.__defaults__, function.__closure__)


def nameless_model(model: nn.Module) -> nn.Module:
    """A model with the same forward and the same submodules, of a class whose name reveals nothing."""
    kind = type("Model", (nn.Module,), {"forward": nameless(type(model).forward), "__module__": "given"})
    same = kind.__new__(kind)
    vars(same).update(vars(model))
    return same
