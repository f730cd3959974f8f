"""What changed between versions is read from the output of a probe on each version, never written by hand."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from press import ROOT
from press.book import the_book
from press.manuscript.problems import PressError
from press.manuscript.reading import HEADER, anchor, parse
from press.pages import versions as page
from press.versions import facts, notes, probes, record
from press.versions.facts import Fact, Remark
from press.versions.messages import of_a_cell
from press.versions.record import VERSIONS, Record

OUTPUTS = {"2.6.0": "old", "2.9.1": "old", "2.10.0": "new", "2.13.0": "new", "2.15.0": "newer"}
FACT = Fact("a-fact", Path("a_fact.py"), "It is new", "Before {since} it was old, and from {later} on it is newer.")


def test_when_it_changed_is_found_in_the_record() -> None:
    told = facts.with_record(FACT, OUTPUTS, "2.13.0")
    assert told.rows == (("2.6 to 2.9", "old"), ("2.10 to 2.13", "new"), ("2.15", "newer"))
    assert told.when == "Before torch 2.10, and since 2.15"
    assert told.holds == "Only from torch 2.10 on, and before 2.15"
    assert told.text == "Before 2.10 it was old, and from 2.15 on it is newer."


@pytest.mark.parametrize(
    ("left_out", "when", "holds"),
    [
        (("2.15.0",), "Before torch 2.10", "Only from torch 2.10 on"),
        (("2.6.0", "2.9.1"), "Since torch 2.15", "Only before torch 2.15"),
    ],
)
def test_a_change_before_or_after_the_pinned_version(left_out: tuple[str, ...], when: str, holds: str) -> None:
    recorded = {version: line for version, line in OUTPUTS.items() if version not in left_out}
    plain = Fact("a-fact", FACT.path, FACT.title, "It was old.")
    told = facts.with_record(plain, recorded, "2.13.0")
    assert (told.when, told.holds) == (when, holds)
    with pytest.raises(PressError, match=r"its text has \{(since|later)\}, but there is no such version"):
        facts.with_record(FACT, recorded, "2.13.0")


@pytest.mark.parametrize(
    ("recorded", "message"),
    [({"2.6.0": "old"}, "has no record on torch 2.13.0"), ({"2.6.0": "x", "2.13.0": "x"}, "prints the same on every")],
)
def test_a_fact_that_never_changed_is_rejected(recorded: dict[str, str], message: str) -> None:
    with pytest.raises(PressError, match=message):
        facts.with_record(FACT, recorded, "2.13.0")


PROBES = {
    "one": "import sys\nsys.planted = 1\nprint('first')\nprint('last')",
    "two": "import sys\nprint(hasattr(sys, 'planted'))",
    "three": "raise TypeError('no\\nmore')",
    "four": "import warnings, torch\nwarnings.warn('x')\nprint(torch.nn.ReLU().forward)",
}


def test_a_probe_prints_a_line_or_the_error_that_it_raises(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.py" for name in PROBES]
    for path in paths:
        path.write_text(f'"""A title."""\n{PROBES[path.stem]}\n', encoding="utf-8")
    printed = probes.outputs(paths=paths)
    assert (printed["one"], printed["two"], printed["three"]) == ("last", "False", "TypeError: no")
    assert printed["four"].startswith("<bound method ReLU.forward of ReLU()>")


def test_a_fact_explains_cells_where_it_differs_and_a_remark_where_it_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fact = Fact("x", Path("x.py"), "It is new", "It was old.", explains=("a =>", "b =>"))
    remarks = {"silent": Remark(("2.6.0",), "c"), "said": Remark(("2.6.0", "2.10.0"), "d", "Something differs.")}
    monkeypatch.setattr(facts, "read", lambda: {"x": fact})
    monkeypatch.setattr(facts, "remarks", lambda: remarks)
    kept = Record(facts={"x": {"2.6.0": "old", "2.10.0": "new", "2.13.0": "new"}})
    in_order = list(facts.patterns("2.6.0", kept, "2.13.0").items())
    assert in_order == [("said", ("d",)), ("x", ("a =>", "b =>")), ("silent", ("c",))]
    assert facts.patterns("2.10.0", kept, "2.13.0") == {"said": ("d",)}


def test_a_fact_is_read_from_its_file(tmp_path: Path) -> None:
    folder = tmp_path / facts.FOLDER
    folder.mkdir(parents=True)
    path = folder / "some_fact.py"
    document = "A title.\n\nA text\nin lines.\n\nNowhere: no page\nspeaks of it.\n\nExplains: one =>\n  two .*\n"
    path.write_text(f'"""{document}"""\nprint(1)\n', encoding="utf-8")
    assert facts.read(tmp_path) == {
        "some-fact": Fact(
            "some-fact", path, "A title", "A text in lines.", "no page speaks of it.", ("one =>", "two .*")
        )
    }
    path.write_text("print(1)\n", encoding="utf-8")
    with pytest.raises(PressError, match="must begin with a docstring"):
        facts.read(tmp_path)


def test_a_marker_becomes_a_fold_with_the_record() -> None:
    told = facts.with_record(FACT, OUTPUTS, "2.13.0")
    manuscript = parse(Path("a.md"), HEADER + "\n# A\n\n## B c\n\nText.\n\n<!-- versions: a-fact -->\n")
    (cell,) = notes.with_notes(manuscript, SimpleNamespace(changes={"a-fact": told})).cells
    assert "<!--" not in cell.source
    assert (
        "<summary>Before torch 2.10, and since 2.15, this is different</summary>\n\n**It is new.** Before"
        in cell.source
    )
    assert "| 2.6 to 2.9 | `old` |\n| 2.10 to 2.13 | `new` |" in cell.source
    assert list(notes.places(manuscript)) == [notes.Place("a-fact", "b-c", "B c")]


def test_unknown_marker_is_rejected_with_its_line() -> None:
    manuscript = parse(Path("a.md"), HEADER + "\n# A\n\n<!-- versions: a-fact, no-fact -->\n")
    line = HEADER.count("\n") + 4
    with pytest.raises(PressError, match=rf"a.md:{line}: 'no-fact' is not a fact"):
        notes.with_notes(manuscript, SimpleNamespace(changes={"a-fact": facts.with_record(FACT, OUTPUTS, "2.13.0")}))


def test_remaining_facts_are_at_the_end_of_a_page() -> None:
    manuscript = parse(Path("a.md"), HEADER + "\n# A\n\n```{code-cell} ipython3\n1\n```\n\n## B\n\nText.\n")
    *rest, last = notes.with_others(manuscript.cells, ["one", "two"])
    assert last.source.startswith("## B\n\nText.\n\n<details") and "\n\n- one\n- two\n\n" in last.source
    assert rest == list(manuscript.cells[:-1])
    *rest, last = notes.with_others(rest, ["one"])
    assert last.kind == "markdown" and rest == list(manuscript.cells[:-1])
    assert notes.with_others(manuscript.cells, []) == list(manuscript.cells)


# ---- the book's facts ------------------------------------------------------------------------------------------------


def test_the_probes_print_what_is_recorded_for_this_torch() -> None:
    here = importlib.metadata.version("torch").partition("+")[0]
    recorded = {name: lines[here] for name, lines in record.read().facts.items() if here in lines}
    printed = probes.outputs()
    if recorded:
        assert printed == recorded, "run `python -m press versions --facts`"


def test_every_fact_is_recorded_on_every_version() -> None:
    # Otherwise the page could name a version later than that of the change.
    recorded = record.read().facts
    missing = {name: sorted({*VERSIONS} - {*recorded.get(name, {})}) for name in facts.read()}
    assert [name for name, versions in missing.items() if versions] == []


def test_every_fact_has_a_note_at_its_place_or_says_why_not() -> None:
    noted = {place.fact for manuscript in page.pages(the_book()).values() for place in notes.places(manuscript)}
    wrong = [name for name, fact in facts.read().items() if (name in noted) == bool(fact.nowhere)]
    assert wrong == [], "put `<!-- versions: … -->` where a page explains it, or `Nowhere: …` in the fact, and not both"


def test_every_fact_and_remark_of_a_page_exists() -> None:
    kept = record.read()
    known = {*facts.read(), *(name for name, one in facts.remarks().items() if one.says)}
    assert {name for names in kept.pages.values() for name in names} <= known
    assert {one.fact for one in kept.messages} - {""} <= known
    assert [page for page in kept.pages if not (ROOT / page).is_file()] == []


def test_a_page_has_every_fact_and_remark_that_is_recorded_for_its_cells() -> None:
    book = the_book()
    for path, names in book.record.pages.items():
        if not path.startswith("solutions/"):
            text = (ROOT / path).read_text(encoding="utf-8")
            wanted = [
                book.remarks[name].says if name in book.remarks else book.changes[name].fact.title for name in names
            ]
            missing = [one for one in wanted if json.dumps(one, ensure_ascii=False)[1:-1] not in text]
            assert missing == [], f"generate {path} again"


def test_fact_that_changed_twice_is_under_both_versions() -> None:
    text = (ROOT / "chapters" / "reference" / "versions.md").read_text(encoding="utf-8")
    sections = {part.partition("\n")[0]: part for part in text.split("\n## Torch ")[1:]}
    twice = [one for one in the_book().changes.values() if len(one.changed) == 2]
    assert "detach-is-recorded" in [one.fact.id for one in twice]
    for one in twice:
        assert f"### {one.fact.title}\n" in sections[one.later]
        assert f"[{one.fact.title}](#{anchor(one.fact.title)})" in sections[one.since]


def test_the_page_shows_no_error_of_a_cell() -> None:
    text = (ROOT / "chapters" / "reference" / "versions.md").read_text(encoding="utf-8")
    shown = [line for line in text.splitlines() if line.startswith("*You see*")]
    assert shown and [line for line in shown if of_a_cell(line.partition("``")[2])] == []


def test_the_proven_versions_have_no_difference() -> None:
    kept = record.read()
    assert the_book().pins["torch"] in record.ALIKE
    assert [sum(kept.versions[version][kind] for kind in record.KINDS) for version in record.ALIKE] == [0, 0, 0]


def test_the_page_has_every_fact_remark_and_complete_run() -> None:
    text = (ROOT / "chapters" / "reference" / "versions.md").read_text(encoding="utf-8")
    for fact in facts.read().values():
        assert text.count(f"### {fact.title}\n") == 1
    run_whole = {name: counts["cells"] for name, counts in record.read().versions.items() if "cells" in counts}
    # For the pinned torch, the page counts the cells of today.
    run_whole.pop(the_book().pins["torch"], None)
    missing = [name for name, cells in run_whole.items() if f"| {name} | {cells:,} |" not in text]
    assert len(run_whole) > 5 and missing == []
    remarks = [one.says for one in facts.remarks().values() if one.says]
    assert remarks and [one for one in remarks if text.count(f": {one}\n") == 0] == []
    # Learners search for this error.
    section = text.partition("### `ExportedProgram.module` has the option `check_guards`\n")[2].partition("\n### ")[0]
    shown = "TypeError: ExportedProgram.module() got an unexpected keyword argument 'check_guards'"
    assert f"*You see*: ``{shown}``" in section
