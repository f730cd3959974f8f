"""Show a result: a notebook and a prompt show the value of an expression, but a script does not."""

from __future__ import annotations

import builtins
import sys
from typing import TypeVar

Result = TypeVar("Result")


def shown(result: Result) -> Result:
    """Print a result in a script, where nothing else shows it, and return it."""
    if not _shows_expressions():
        print(result)
    return result


def _shows_expressions() -> bool:
    return hasattr(builtins, "__IPYTHON__") or hasattr(sys, "ps1") or bool(sys.flags.interactive)
