"""Import a file that belongs to no package: a Sphinx extension, a benchmark."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from press import ROOT


def load(path: str) -> ModuleType:
    """The module of a file, given by its path from the project's root: ``"book/_ext/search_index.py"``."""
    name = Path(path).stem
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    # Registered, since dataclasses look up their module by name.
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
