"""The record is read as it was written, and gives the versions of messages, notes and solutions."""

from __future__ import annotations

from pathlib import Path

from press.versions import record
from press.versions.record import Message, Record


def test_the_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = Record(
        {"2.9.1": {"cells": 2, "behaviour": 1, "solutions": "03-x 04-y"}, "2.10.0": {"cells": 2}},
        {"x": {"2.9.1": "False", "2.10.0": "True", "2.11.0": "True"}},
        {"chapters/04_recompile.ipynb": ["x", "a-remark"]},
        [Message("E: `a` | 'b'", ("2.9.1", "2.10.0"), "04_recompile.ipynb#a", "x"), Message("F: c", ("2.9.1",))],
    )
    (tmp_path / "book" / "reference").mkdir(parents=True)
    assert record.write(written, tmp_path)
    assert record.read(tmp_path) == written
    assert not record.write(written, tmp_path)
    assert record.read(tmp_path / "elsewhere") == Record()


def test_a_message_is_noted_once_with_its_versions() -> None:
    kept = Record()
    for version in ("2.10.0", "2.9.1"):
        kept.add(Message("E: a (4x2)" if version == "2.9.1" else "E: a (4x8)", (version,), "at"))
    assert kept.messages == [Message("E: a (4x8)", ("2.9.1", "2.10.0"), "at")]


def test_consecutive_versions_become_a_span() -> None:
    known = ["2.6.0", "2.7.1", "2.8.0", "2.10.0"]
    assert record.spans(["2.7.1", "2.6.0", "2.10.0"], known) == "2.6 to 2.7, 2.10"
    assert record.in_order(["2.10.0", "2.9.1", "2.10.0"]) == ["2.9.1", "2.10.0"]


def test_the_record_says_which_torch_a_solution_needs() -> None:
    failing = {"2.6.0": "03-clean-up", "2.8.0": "03-clean-up", "2.10.0": "", "2.13.0": "", "2.15.0": "03-too-new"}
    kept = Record({version: {"solutions": names} for version, names in failing.items()})
    assert kept.solutions_need("2.13.0") == {"03-clean-up": "2.10"}
    assert Record().solutions_need("2.13.0") == {}
