"""A one-line description of each name for the index: ``book/reference/api_names.yml``."""

from __future__ import annotations

import yaml

from press import ROOT

_WRITTEN = yaml.safe_load((ROOT / "book" / "reference" / "api_names.yml").read_text(encoding="utf-8"))
LINES: dict[str, str] = _WRITTEN["exported"]
BEYOND: dict[str, str] = _WRITTEN["beyond"]
REASONS: dict[str, str] = _WRITTEN["private"]
