"""Read submitters and times from the metadata file of a Gradescope export."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from classroom.collect.files import Entry, RefusedError


def handed_in_on_gradescope(entries: Sequence[Entry]) -> dict[str, tuple[str, dt.datetime | None]]:
    """The submitters' names and the time of submission, by folder."""
    metadata = [entry for entry in entries if entry.parts == ("submission_metadata.yml",)]
    if not metadata:
        return {}
    import yaml  # Installed with jupytext; only Gradescope's export needs it.

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
    """Parse a time from Gradescope; a time without a zone is UTC."""
    if isinstance(written, str):
        try:
            written = dt.datetime.fromisoformat(written.strip())
        except ValueError:
            return None
    if not isinstance(written, dt.datetime):
        return None
    return written if written.tzinfo else written.replace(tzinfo=dt.UTC)
