"""Say which extra of the package to install if a tool needs it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def needing(extra: str, tool: str) -> Iterator[None]:
    """Import, in the body, packages that only one tool needs.

    Args:
        extra: the name in ``pyproject.toml`` of the extra with these packages.
        tool: the subject of the error message.

    Raises:
        ModuleNotFoundError: a package is missing; the message says what to install.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(cure(extra, tool, str(error.name)), name=error.name) from None


def cure(extra: str, tool: str, lacking: str) -> str:
    """``'draw(order="data") needs graphviz: run `pip install "fxbook[draw]"`.'``"""
    return f'{tool} needs {lacking}, which is not installed: run `pip install "fxbook[{extra}]"`.'
