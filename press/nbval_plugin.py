"""A pytest plugin: tell each kernel that nbval starts which notebook it serves, as Jupyter and the press do."""

from __future__ import annotations

import os

import pytest

from press.execution import NOTEBOOK_VARIABLE


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Set the variable before nbval starts the kernel of the notebook's first cell; other tests run in no notebook."""
    if item.path.suffix == ".ipynb":
        os.environ[NOTEBOOK_VARIABLE] = str(item.path)
    else:
        os.environ.pop(NOTEBOOK_VARIABLE, None)
