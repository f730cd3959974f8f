"""Tell which extra of the package a tool needs where something is not installed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def needing(extra: str, tool: str) -> Iterator[None]:
    """Import in the body what only one tool needs.

    Args:
        extra: its name in ``pyproject.toml``, whose packages the body imports.
        tool: what needs them, as the subject of a sentence.

    Raises:
        ModuleNotFoundError: one of them is not there; the message says what to install.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(cure(extra, tool, str(error.name)), name=error.name) from None


def cure(extra: str, tool: str, lacking: str) -> str:
    """``'draw(order="data") needs graphviz: run `pip install "fxbook[draw]"`.'``"""
    return f'{tool} needs {lacking}, which is not installed: run `pip install "fxbook[{extra}]"`.'
