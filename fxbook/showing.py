"""Show a result to whoever asked for it: a notebook and a prompt show what an expression gives, a script does not."""

from __future__ import annotations

import builtins
import sys
from typing import TypeVar

Result = TypeVar("Result")


def shown(result: Result) -> Result:
    """Print a result where nobody else shows it; hand it back.

    A notebook shows the last expression of a cell, IPython and Python's own prompt show every expression. In a script,
    also one that a command runs, nothing is shown that is not printed.
    """
    if not _shows_expressions():
        print(result)
    return result


def _shows_expressions() -> bool:
    return hasattr(builtins, "__IPYTHON__") or hasattr(sys, "ps1") or bool(sys.flags.interactive)
