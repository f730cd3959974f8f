"""What Gradescope's export says besides the names of its folders: who handed each of them in, and when."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from classroom.collect.files import Entry, RefusedError


def handed_in_on_gradescope(entries: Sequence[Entry]) -> dict[str, tuple[str, dt.datetime | None]]:
    """Of each folder of Gradescope's the names of those who handed it in, and when."""
    metadata = [entry for entry in entries if entry.parts == ("submission_metadata.yml",)]
    if not metadata:
        return {}
    import yaml  # jupytext brings it; only Gradescope's export needs it.

    try:
        submissions = yaml.load(metadata[0].read(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return {
            str(folder): (
                ", ".join(str(person[":name"]) for person in about[":submitters"]),
                _moment(about.get(":created_at")),
            )
            for folder, about in submissions.items()
        }
    except (RefusedError, yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return {}


def _moment(written: Any) -> dt.datetime | None:
    """A moment as Gradescope writes it; where it has no time zone, it is UTC."""
    if isinstance(written, str):
        try:
            written = dt.datetime.fromisoformat(written.strip())
        except ValueError:
            return None
    if not isinstance(written, dt.datetime):
        return None
    return written if written.tzinfo else written.replace(tzinfo=dt.UTC)
