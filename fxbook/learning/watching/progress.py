"""Which exercises a learner has solved: a small JSON file that can be deleted at any time."""

from __future__ import annotations

import contextlib
import json
from datetime import datetime
from pathlib import Path

NAME = ".fxbook-progress.json"


class Progress:
    """The solved exercises and when each was first solved; every change is saved at once.

    A missing or damaged file counts as empty; a damaged file is kept under a different name.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._solved: dict[str, str] = {}
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            self._solved = {str(name): str(when) for name, when in found["solved"].items()}
        except FileNotFoundError:
            pass
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            with contextlib.suppress(OSError):
                path.replace(path.with_name(path.name + ".damaged"))

    def __contains__(self, exercise_id: str) -> bool:
        return exercise_id in self._solved

    def day(self, exercise_id: str) -> str:
        """The day on which an exercise was first solved, ``"2026-11-28"``, or ``""``."""
        return self._solved.get(exercise_id, "")[:10]

    def solved(self, exercise_id: str) -> None:
        if exercise_id not in self._solved:
            self._solved[exercise_id] = datetime.now().isoformat(timespec="seconds")
            self._save()

    def _save(self) -> None:
        partial = self._path.with_name(self._path.name + ".partial")
        partial.write_text(json.dumps({"solved": self._solved}, indent=1) + "\n", encoding="utf-8")
        partial.replace(self._path)
