"""What is known of mutants that pass: ``mutants.toml`` beside the exercise lists each under its reason.

::

    [[right]]
    because = "`lint` changes nothing in a sound graph."
    mutants = [
        "solution: lint dropped: traced.graph.lint() -> (nothing)",
    ]

``right`` are those that are right answers too: they compute the same, or what the task leaves open. ``open`` are wrong,
and their check does not see it, or not with every seed, for a reason that is given: they count against it.
"""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path

from fxbook import tasks

NAME = "mutants.toml"
RIGHT, OPEN = "right", "open"
_HEAD = "# Mutants of right answers that the check lets pass, each with its reason: see tests/mutation/listed.py.\n"


@dataclasses.dataclass(frozen=True)
class Listed:
    """Mutants by their keys, each with its reason."""

    right: dict[str, str]
    open: dict[str, str]

    def __contains__(self, key: str) -> bool:
        return key in self.right or key in self.open

    def keys(self) -> set[str]:
        return {*self.right, *self.open}


def path_of(exercise_id: str) -> Path:
    return tasks.folder_of(exercise_id) / NAME


def listed(exercise_id: str) -> Listed:
    """What is listed for an exercise; nothing where there is no such file.

    Raises:
        ValueError: a mutant is listed twice, or without a reason.
    """
    path = path_of(exercise_id)
    known = Listed({}, {})
    groups = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for kind, reasons in ((RIGHT, known.right), (OPEN, known.open)):
        for group in groups.get(kind, ()):
            for key in group["mutants"]:
                if key in known or not group["because"].strip():
                    raise ValueError(f"{path}: listed twice, or without a reason: {key}")
                reasons[key] = group["because"]
    return known


def write(exercise_id: str, known: Listed) -> None:
    """Write the list of an exercise anew, in the order of the reasons."""
    text = _HEAD
    for kind, reasons in ((RIGHT, known.right), (OPEN, known.open)):
        groups: dict[str, list[str]] = {}
        for key, because in reasons.items():
            groups.setdefault(because, []).append(key)
        for because, keys in groups.items():
            lines = "".join(f"    {_quoted(key)},\n" for key in keys)
            text += f"\n[[{kind}]]\nbecause = {_quoted(because)}\nmutants = [\n{lines}]\n"
    path_of(exercise_id).write_text(text, encoding="utf-8")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
