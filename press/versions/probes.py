"""Ask the probe of every fact on one torch: each in a process of its own, forked from one that has imported torch."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from press import ROOT
from press.printing.execution import without_addresses
from press.versions.facts import Fact, read

_RUNNER = Path(__file__).with_name("asked.py")
_LONGEST = 300


def ask(python: Path | str = sys.executable, asked: Iterable[Fact] | None = None) -> dict[str, str]:
    """What the probes print with an interpreter, by id of the fact; an error that one raises stands for its line.

    Raises:
        RuntimeError: the interpreter has no torch.
    """
    chosen = list(read().values() if asked is None else asked)
    command = [str(python), str(_RUNNER), *(str(fact.path) for fact in chosen)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the probes did not run:\n{done.stderr}")
    printed = json.loads(done.stdout.splitlines()[-1])
    lines = {path: without_addresses(line)[:_LONGEST] for path, line in printed.items()}
    return {fact.id: lines[str(fact.path)] for fact in chosen}


def merged(
    before: Mapping[str, Mapping[str, str]], version: str, printed: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """What was recorded of the facts that there are, with what a version prints now."""
    return {name: {**before.get(name, {}), version: line} for name, line in printed.items()}
