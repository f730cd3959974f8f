"""Functions and models as an answer gets them where their name, or where they stand, would tell the answer."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

from torch import nn

# No line of it is the learner's, and no file has its text.
_FILE = str(Path(__file__).with_name("given"))


def nameless(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, of which nothing tells how it was called and where it stood."""
    assert isinstance(function, FunctionType)
    code = function.__code__.replace(co_name="function", co_qualname="function", co_filename=_FILE, co_firstlineno=1)
    used = {name: function.__globals__[name] for name in code.co_names if name in function.__globals__}
    # torch imports modules from C, by the builtins of the function that runs.
    names = {"__builtins__": builtins, **used}
    return FunctionType(code, names, "function", function.__defaults__, function.__closure__)


def nameless_model(model: nn.Module) -> nn.Module:
    """A model with the same forward and the very same parts, of a class that says nothing."""
    kind = type("Model", (nn.Module,), {"forward": nameless(type(model).forward), "__module__": "given"})
    same = kind.__new__(kind)
    vars(same).update(vars(model))
    return same
