"""The record keeps what an author has judged, changes nothing of other versions, and reads as it was written."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from press.versions import matrix, record
from press.versions.record import BEHAVIOUR, WORDING, Entry, Record

NOTEBOOK = "chapters/04_recompile.ipynb"


def entry(version: str, here: str = "False", kind: str = BEHAVIOUR, cell: str = "aa", **more: str) -> Entry:
    return Entry(NOTEBOOK, cell, "outer.recompile()", [version], kind, "True", here, **more)


def kept(*entries: Entry) -> Record:
    return Record({}, list(entries))


def test_versions_on_which_a_cell_shows_the_same_share_an_entry() -> None:
    told = kept(entry("2.10.0"))
    told.replace("2.9.1", [NOTEBOOK], [entry("2.9.1")])
    told.replace("2.6.0", [NOTEBOOK], [entry("2.6.0", here="nothing")])
    assert [(one.on, one.here) for one in told.entries] == [(["2.9.1", "2.10.0"], "False"), (["2.6.0"], "nothing")]


def test_a_run_replaces_what_was_found_on_its_version_in_its_notebooks_alone() -> None:
    elsewhere = dataclasses.replace(entry("2.9.1"), notebook="chapters/05.ipynb")
    told = kept(dataclasses.replace(entry("2.9.1"), on=["2.9.1", "2.10.0"]), elsewhere)
    told.replace("2.9.1", [NOTEBOOK], [])
    assert [(one.notebook, one.on) for one in told.entries] == [
        (NOTEBOOK, ["2.10.0"]),
        ("chapters/05.ipynb", ["2.9.1"]),
    ]


def test_what_an_author_has_judged_stays() -> None:
    told = kept(entry("2.9.1", kind=WORDING), entry("2.9.1", cell="bb", fact="recompile-children"))
    told.replace("2.9.1", [NOTEBOOK], [entry("2.9.1"), entry("2.9.1", cell="bb")])
    assert [(one.cell, one.kind, one.fact) for one in told.entries] == [
        ("aa", WORDING, ""),
        ("bb", BEHAVIOUR, "recompile-children"),
    ]


def test_another_version_of_the_same_cell_is_told_by_the_same_fact() -> None:
    told = kept(entry("2.9.1", fact="recompile-children"))
    told.replace("2.6.0", [NOTEBOOK], [entry("2.6.0", here="nothing at all")])
    assert told.entries[-1].fact == "recompile-children"
    torn = kept(entry("2.9.1", fact="one"), entry("2.8.0", here="x", fact="another"))
    torn.replace("2.6.0", [NOTEBOOK], [entry("2.6.0", here="nothing at all")])
    assert torn.entries[-1].fact == ""


def test_a_cell_with_a_new_source_keeps_what_was_judged_if_it_shows_the_same() -> None:
    told = kept(entry("2.9.1", fact="recompile-children"))
    told.replace("2.9.1", [NOTEBOOK], [entry("2.9.1", cell="cc")])
    assert [(one.cell, one.fact) for one in told.entries] == [("cc", "recompile-children")]


def test_a_fact_explains_the_cells_that_differ_for_it_on_the_versions_where_it_differs() -> None:
    both = dataclasses.replace(entry("2.6.0"), on=["2.6.0", "2.10.0"])
    told = kept(both, entry("2.6.0", here="x", cell="bb"), entry("2.6.0", cell="cc", because="no triton"))
    told.facts = {"x": {"2.6.0": "old", "2.10.0": "new", "2.13.0": "new"}}
    told.judge({"x": [r"04_.*True => False$"]}, "2.13.0")
    assert [(one.cell, one.on, one.fact) for one in told.entries] == [
        ("aa", ["2.6.0"], "x"),
        ("aa", ["2.10.0"], ""),
        ("bb", ["2.6.0"], ""),
        ("cc", ["2.6.0"], ""),
    ]
    told.judge({"x": ["no cell"]}, "2.13.0")
    assert told.entries[0].fact == "x", "what is said stays"
    told.judge({}, "2.13.0")
    assert told.entries[0].fact == "", "and goes with the fact"


def test_a_cell_that_is_printed_no_more_is_forgotten() -> None:
    told = kept(entry("2.9.1"), entry("2.9.1", cell="bb"))
    told.forget({(NOTEBOOK, "bb")})
    assert [one.cell for one in told.entries] == ["bb"]


def test_what_behaves_otherwise_is_told_by_a_fact_or_has_a_reason() -> None:
    told = kept(entry("2.9.1"), entry("2.9.1", cell="bb", fact="x"), entry("2.9.1", cell="cc", because="no triton"))
    assert told.counted("2.9.1") == {"wording": 0, "warning": 0, "behaviour": 3, "follows": 0, "not told": 1}
    assert set(told.counted("2.8.0").values()) == {0}


def test_the_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    told = kept(dataclasses.replace(entry("2.9.1", fact="x"), on=["2.9.1", "2.10.0"], messages=["E: `a` | 'b'"]))
    told.versions = {"2.10.0": {"cells": 2, "behaviour": 1}, "2.9.1": {"cells": 2, "behaviour": 1}}
    told.answers = {"03-x-some_answer": {"2.9.1": "AssertionError: no"}}
    told.entries.append(dataclasses.replace(entry("2.9.1", cell="bb"), printed=""))
    told.facts = {"x": {"2.9.1": "False", "2.10.0": "True", "2.11.0": "True"}}
    (tmp_path / "book" / "reference").mkdir(parents=True)
    assert record.write(told, tmp_path)
    again = record.read(tmp_path)
    assert again == dataclasses.replace(told, versions={name: told.versions[name] for name in ("2.9.1", "2.10.0")})
    assert not record.write(again, tmp_path)


def test_spans_name_what_follows_one_another() -> None:
    known = ["2.6.0", "2.7.1", "2.8.0", "2.10.0"]
    assert record.spans(["2.7.1", "2.6.0", "2.10.0"], known) == "2.6 to 2.7, 2.10"
    assert record.in_order(["2.10.0", "2.9.1", "2.10.0"]) == ["2.9.1", "2.10.0"]


def test_there_is_nothing_where_no_record_is(tmp_path: Path) -> None:
    assert record.read(tmp_path) == Record()


def test_which_torch_a_solution_needs_is_found_in_the_record() -> None:
    def shows(exercise: str, on: list[str], here: str, notebook: str = "solutions/03_replacement.ipynb") -> Entry:
        printed = f"{exercise} (Clean up): public checks passed."
        return Entry(notebook, f"{exercise}-code-2", "check(…)", on, BEHAVIOUR, printed, here)

    entries = [
        shows("03-clean-up", ["2.6.0", "2.8.0"], "03-clean-up (Clean up): not yet."),
        shows("03-every-relu", ["2.6.0"], "03-every-relu (Clean up): public checks passed."),
        shows("03-in-order", ["2.6.0"], "03-in-order (Clean up): not yet.", "chapters/03_replacement.ipynb"),
        shows("03-too-new", ["2.15.0"], "03-too-new (Clean up): not yet."),
    ]
    told = Record({version: {} for version in ("2.10.0", "2.6.0", "2.8.0", "2.13.0", "2.15.0")}, entries)
    assert told.solutions_need("2.13.0") == {"03-clean-up": "2.10"}
    assert Record().solutions_need("2.13.0") == {}


def test_where_notebooks_are_named_the_facts_stay_as_they_were_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    facts = {"a-fact": {"2.6.0": "before"}}
    asked, written = [], []
    monkeypatch.setattr(matrix.environments, "ensure", lambda _: tmp_path)
    monkeypatch.setattr(matrix, "cells", lambda *_: (0, {}))
    monkeypatch.setattr(matrix.probes, "ask", lambda _: asked.append("facts") or {"a-fact": "now"})
    monkeypatch.setattr(matrix.record, "read", lambda: Record(facts=dict(facts)))
    monkeypatch.setattr(matrix, "_write", lambda kept, _: written.append(kept.facts))
    monkeypatch.setattr(matrix, "_write_details", lambda *_: "")
    assert matrix.run(["2.6.0"], ["fact_check_kwargs"]) == 0
    assert (asked, written) == ([], [facts])
    assert matrix.run(["2.6.0"], facts_alone=True) == 0
    assert (asked, written[1:]) == (["facts"], [{"a-fact": {"2.6.0": "now"}}])
