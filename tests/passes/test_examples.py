"""Each tool has an example in its docstring, and the example runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import fxbook
from fxbook import invariants

TOOLS = [name for name in fxbook._HOME if name != "invariants"]
MODULES = [
    *sorted(home for home in set(fxbook._HOME.values()) if not home.startswith("fxbook.passes.")),
    *(
        found.name
        for found in pkgutil.walk_packages(importlib.import_module("fxbook.passes").__path__, "fxbook.passes.")
    ),
]
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert failed == 0


@pytest.mark.parametrize("name", TOOLS)
def test_every_tool_has_an_example(name: str) -> None:
    assert ">>>" in getattr(fxbook, name).__doc__


@pytest.mark.parametrize("invariant", invariants.ALL, ids=lambda invariant: invariant.__name__)
def test_every_invariant_has_an_example(invariant: object) -> None:
    assert ">>>" in invariant.__doc__ and invariant.__module__ in MODULES
