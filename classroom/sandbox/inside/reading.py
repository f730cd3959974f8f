"""The room that reads notebooks, scripts and zips, any byte of which may be malicious."""

from __future__ import annotations

import base64
import sys
from collections.abc import Sequence
from typing import Any

# Blocks a slow import of jsonschema's format checks, which are installed with JupyterLab and not needed here.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

import jupytext  # noqa: E402, F401  (loaded here rather than in each fork)
import nbformat  # noqa: E402

from classroom.collect import parsing, unzipping  # noqa: E402

JSON = Any


def get_ready(chapters: Sequence[str]) -> None:
    # Loads what nbformat imports when it first reads a notebook.
    nbformat.reads('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', as_version=4)


def begin(task: JSON) -> None:
    """There is nothing to prepare."""


def work(prepared: None, payload: JSON, files: Sequence[int] = ()) -> JSON:
    match payload:
        case {"sheet": str(data), "name": str(name), "answers": dict(answers), "handed_out": list(handed_out)}:
            return parsing.parsed_sheet(name, base64.b64decode(data), answers, handed_out)
        case {"list": int(most), "bounded": bool(bounded)}:
            return unzipping.listed(files[0], most, bounded)
        case {"member": int(place), "limit": int(limit)}:
            return unzipping.member(files[0], place, limit)
        case _:
            raise ValueError("this room reads sheets and zips")
