"""Import a file that belongs to no package: an extension of Sphinx, a benchmark."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from press import ROOT


def load(path: str) -> ModuleType:
    """The module of a file, named from the root of the project: ``"book/_ext/search_index.py"``."""
    name = Path(path).stem
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    # Its dataclasses ask for it by name.
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
