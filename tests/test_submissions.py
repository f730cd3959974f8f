"""Submissions are found whoever named them, and nothing is guessed: what the names do not tell, the row says."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import classroom_class as class_
import pytest
from submission_folders import ASSIGNMENT, OTHER, SHEET, THREE, TWO, found, only, put, sheet, zip_of

from classroom import files, names, submissions

# ---- whose it is -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("handed_in", "student", "key"),
    [
        (f"Müller Anna_12345_assignsubmission_file_/{TWO}.ipynb", "Müller Anna", "muller-anna-12345"),
        (f"Müller Anna_12345_assignsubmission_file/{TWO}.ipynb", "Müller Anna", "muller-anna-12345"),
        (f"O_Neill D'Arcy_7_assignsubmission_file_{TWO}.ipynb", "O_Neill D'Arcy", "o-neill-d-arcy-7"),
        (f"mulleranna_123_456_{TWO}.ipynb", "mulleranna", "mulleranna-123"),
        (f"mulleranna_LATE_123_456_{TWO}-2.ipynb", "mulleranna", "mulleranna-123"),
        (f"submission_987/{TWO}.ipynb", "submission_987", "submission-987-987"),
        (f"submitted/anna/week 2/{TWO}.ipynb", "anna", "anna"),
        (f"Anna Müller/{TWO}.ipynb", "Anna Müller", "anna-muller"),
        (f"Anna Müller/exercises/{TWO}.ipynb", "Anna Müller", "anna-muller"),
        (f"Anna Müller {TWO}.ipynb", "Anna Müller", "anna-muller"),
        (f"{TWO}_Anna Müller (1).ipynb", "Anna Müller", "anna-muller"),
        ("Anna Müller.ipynb", "Anna Müller", "anna-muller"),
        ("Anna Müller.zip", "Anna Müller", "anna-muller"),
    ],
)
def test_a_student_is_known_by_the_name_that_the_learning_system_gives(
    tmp_path: Path, handed_in: str, student: str, key: str
) -> None:
    put(tmp_path, (handed_in, zip_of({f"{TWO}.ipynb": SHEET}) if handed_in.endswith(".zip") else SHEET))
    put(tmp_path, f"{handed_in.partition('/')[0] if 'submitted' in handed_in else ''}/zz other/{TWO}.ipynb".lstrip("/"))
    one = found(tmp_path)[student]
    assert (one.key, one.sheets, one.problems) == (key, {TWO: SHEET}, {})


def test_one_student_in_two_spellings_of_unicode_is_one(tmp_path: Path) -> None:
    for form, name in (("NFC", TWO), ("NFD", THREE)):
        put(tmp_path, (f"{unicodedata.normalize(form, 'Zoë Ångström')}/{name}.ipynb", sheet(f"{name[:2]}-clean-up")
                       if name == THREE else SHEET))  # fmt: skip
    one = only(tmp_path)
    assert one.student == unicodedata.normalize("NFC", "Zoë Ångström")
    assert set(one.sheets) == {TWO, THREE}


def test_two_students_of_one_name_are_two(tmp_path: Path) -> None:
    put(tmp_path, *(f"Li Wei_{number}_assignsubmission_file_/{TWO}.ipynb" for number in (1, 2)))
    assert [one.key for one in submissions.find(tmp_path, ASSIGNMENT)] == ["li-wei-1", "li-wei-2"]
    put(other := tmp_path / "by hand", *(f"{name}/{TWO}.ipynb" for name in ("Li Wei", "li-wei", "李伟", "李薇")))
    keys = [one.key for one in submissions.find(other, ASSIGNMENT)]
    assert len({key.casefold() for key in keys}) == 4


ODD = [
    "=cmd()",
    "@SUM(A1)",
    "a\nb",
    "\u202eevil",
    "🧑‍🎓",
    "..",
    "...",
    "con",
    "<script>alert(1)</script>",
    "'; DROP TABLE",
    "%n%s",
    "-rf",
    "x" * 240,
    "a\\b",
    "\x1b[31mred",
    "~",
    "$(id)",
    "\udcff",
]


@pytest.mark.parametrize("name", ODD)
def test_an_odd_name_is_safe_as_a_key(tmp_path: Path, name: str) -> None:
    home = "dots" if name == ".." else name
    put(tmp_path, f"{home}/{TWO}.ipynb", f"other/{TWO}.ipynb")
    archive = tmp_path / "class.zip"
    if "\udcff" not in name:
        archive.write_bytes(zip_of({f"{name}/{TWO}.ipynb": SHEET, f"other/{TWO}.ipynb": SHEET}))
    for told in (found(tmp_path), found(archive) if archive.exists() else {}):
        for one in told.values():
            assert set(one.key) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") and 0 < len(one.key) <= 80, one.key
            assert one.student.isprintable() or "\u200d" in one.student
            assert len(one.student) <= 120 and one.student.encode()
    if name != "..":
        assert len(found(tmp_path)) >= 2, "the student is not lost"


def test_names_of_gradescope_come_from_its_table(tmp_path: Path) -> None:
    table = "submission_1:\n  :submitters:\n  - :name: Anna Müller\n    :sid: '17'\n  :score: 0\n"
    put(tmp_path / "assignment_5_export", f"submission_1/{TWO}.ipynb", f"submission_2/{TWO}.ipynb")
    (tmp_path / "assignment_5_export/submission_metadata.yml").write_text(table)
    assert list(found(tmp_path)) == ["Anna Müller", "submission_2"]
    assert submissions.look(tmp_path, ASSIGNMENT).unused == ("submission_metadata.yml",)


@pytest.mark.parametrize("damage", ["&a [*a]", "{", "!!python/object/apply:os.system ['false']", "a: 1"])
def test_a_damaged_table_of_gradescope_loses_no_student(tmp_path: Path, damage: str) -> None:
    put(tmp_path, f"submission_1/{TWO}.ipynb", ("submission_metadata.yml", damage.encode()))
    assert list(found(tmp_path)) == ["submission_1"]


def test_a_student_who_handed_in_nothing_has_a_place(tmp_path: Path) -> None:
    put(tmp_path, f"anna/{TWO}.ipynb", ("ben/notes.pdf", b"%PDF"))
    (tmp_path / "carl").mkdir()
    (tmp_path / "Dora_5_assignsubmission_onlinetext_").mkdir()
    told = found(tmp_path)
    assert {name: set(one.sheets) for name, one in told.items()} == {
        "anna": {TWO}, "ben": set(), "carl": set(), "Dora": set()
    }  # fmt: skip
    assert told["carl"].problems == {}
    assert "notes.pdf is no notebook" in told["ben"].problems[TWO]


def test_what_is_no_students_is_told(tmp_path: Path) -> None:
    put(tmp_path, f"anna/{TWO}.ipynb", "grades.csv", "readme.txt", ".DS_Store", "__MACOSX/x.ipynb")
    assert submissions.look(tmp_path, ASSIGNMENT).unused == ("grades.csv", "readme.txt")


@pytest.mark.parametrize("empty", [True, False])
def test_a_folder_without_submissions_is_refused(tmp_path: Path, empty: bool) -> None:
    if not empty:
        put(tmp_path, "readme.txt")
    with pytest.raises(submissions.SubmissionsError, match="holds no submission"):
        submissions.find(tmp_path, ASSIGNMENT)
    with pytest.raises(submissions.SubmissionsError, match="There is no folder"):
        submissions.find(tmp_path / "nowhere", ASSIGNMENT)


# ---- which chapter ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [f"{TWO}.ipynb", "insertion points.ipynb", "02-Insertion-Points FINAL.ipynb", "homework final.ipynb", "x.ipynb.txt",
     "Untitled7.ipynb", "05.ipynb", "a/b/c/d.ipynb"],
)  # fmt: skip
def test_a_chapter_is_known_by_name_or_content(tmp_path: Path, name: str) -> None:
    one = only(put(tmp_path, f"anna/{name}"))
    assert one.sheets == {TWO: SHEET} and one.problems == {}
    assert one.names == {TWO: Path(name).name}


def test_one_notebook_may_hold_two_chapters(tmp_path: Path) -> None:
    both = sheet("02-put-in-order", "03-clean-up")
    assert only(put(tmp_path, ("anna/all.ipynb", both))).sheets == {TWO: both, THREE: both}


def test_a_notebook_of_its_own_comes_before_one_that_holds_some_of_it(tmp_path: Path) -> None:
    mixed = sheet("02-put-in-order", "03-clean-up", "03-every-relu")
    one = only(put(tmp_path, ("anna/a.ipynb", SHEET), ("anna/b.ipynb", mixed)))
    assert one.sheets == {TWO: SHEET, THREE: mixed}


def test_content_that_speaks_against_the_name_counts_and_is_told(tmp_path: Path) -> None:
    one = only(put(tmp_path, (f"anna/{TWO}.ipynb", OTHER)))
    assert one.sheets == {THREE: OTHER}
    assert f"{TWO}.ipynb holds the exercises of {THREE}" in one.problems[TWO]


def test_answers_tell_a_chapter_where_no_check_is_left(tmp_path: Path) -> None:
    bare = class_.from_cells(["import torch\ndef put_in_order(traced):\n    pass"])
    assert only(put(tmp_path, ("anna/x.ipynb", bare))).sheets == {TWO: bare}
    one = only(put(tmp_path / "none", ("anna/x.ipynb", class_.from_cells(["reading = put_in_order"]))))
    assert "x.ipynb holds no exercise of the book" in one.problems[TWO]


def test_a_script_counts_where_no_notebook_was_handed_in_with_it(tmp_path: Path) -> None:
    script = b"# %%\ndef put_in_order(traced):\n    pass\n"
    helper = b"# %%\nimport torch\n"
    one = only(put(tmp_path, (f"anna/{TWO}.py", script), (f"anna/{THREE}.ipynb", OTHER), ("anna/helper.py", helper)))
    assert one.sheets == {TWO: script, THREE: OTHER}
    assert one.attempts == {TWO: 1, THREE: 1} and one.problems == {}
    put(tmp_path, f"anna/{TWO}.ipynb")
    for path in (tmp_path / "anna").iterdir():
        os.utime(path, (1000, 1000))
    one = only(tmp_path)
    assert one.sheets[TWO] == SHEET and one.attempts[TWO] == 1
    assert only(put(tmp_path, (f"anna/attempt 2/{TWO}.py", script))).sheets[TWO] == script


def test_checkpoints_and_the_library_of_the_exercises_are_passed_over(tmp_path: Path) -> None:
    left = (f".ipynb_checkpoints/{TWO}-checkpoint.ipynb", f"__MACOSX/._{TWO}.ipynb", f"fxbook/{TWO}.ipynb")
    one = only(put(tmp_path, f"anna/{TWO}.ipynb", *(f"anna/{name}" for name in left)))
    assert one.sheets == {TWO: SHEET} and one.attempts[TWO] == 1


# ---- which version ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("mulleranna_123_456_{}.ipynb", "mulleranna_LATE_123_789_{}-1.ipynb"),
        ("mulleranna_123_9_{}-2.ipynb", "mulleranna_123_1_{}-10.ipynb"),
        ("anna/{}.ipynb", "anna/{} (1).ipynb"),
        ("anna/{}.ipynb", "anna/{}-Copy1.ipynb"),
        ("anna/{}.ipynb", "anna/{} copy.ipynb"),
        ("anna/{}.ipynb", "anna/{}_v2.ipynb"),
        ("anna/Attempt 9/{}.ipynb", "anna/Attempt 10/{}.ipynb"),
        ("anna/attempt 2/{} (7).ipynb", "anna/attempt 3/{}.ipynb"),
    ],
)
def test_the_highest_number_counts_whatever_the_clock_says(tmp_path: Path, first: str, last: str) -> None:
    put(tmp_path, (first.format(TWO), SHEET + b" "), (last.format(TWO), SHEET), (f"zz/{TWO}.ipynb", SHEET))
    os.utime(tmp_path / last.format(TWO), (1, 1))
    one = submissions.find(tmp_path, ASSIGNMENT)[0]
    assert one.sheets == {TWO: SHEET} and one.attempts[TWO] >= 2


def test_without_numbers_the_one_that_was_saved_last_counts(tmp_path: Path) -> None:
    put(tmp_path, ("anna/old.ipynb", SHEET + b" "), ("anna/new.ipynb", SHEET))
    os.utime(tmp_path / "anna/old.ipynb", (1000, 1000))
    os.utime(tmp_path / "anna/new.ipynb", (2000, 2000))
    one = only(tmp_path)
    assert one.sheets == {TWO: SHEET} and one.attempts[TWO] == 2


def test_what_cannot_be_told_apart_is_said_not_guessed(tmp_path: Path) -> None:
    put(tmp_path, "anna/one.ipynb", "anna/two.ipynb")
    for path in (tmp_path / "anna").iterdir():
        os.utime(path, (1000, 1000))
    one = only(tmp_path)
    assert one.sheets == {} and one.attempts[TWO] == 2
    assert "2 files were handed in" in one.problems[TWO] and "anna/one.ipynb, anna/two.ipynb" in one.problems[TWO]
    (tmp_path / "anna/two.ipynb").write_bytes(SHEET)
    os.utime(tmp_path / "anna/two.ipynb", (1000, 1000))
    assert only(tmp_path).sheets == {TWO: SHEET}, "the same file twice is one"


def test_an_earlier_version_never_takes_the_place_of_the_last(tmp_path: Path) -> None:
    put(tmp_path, f"anna/{TWO}.ipynb", (f"anna/{TWO}-1.ipynb", b" " * (files.FILE + 1)))
    one = only(tmp_path)
    assert one.sheets == {} and f"{TWO}-1.ipynb has 10 MB" in one.problems[TWO]


def test_the_number_of_a_resubmission_counts_the_attempts(tmp_path: Path) -> None:
    assert only(put(tmp_path, f"mulleranna_123_456_{TWO}-2.ipynb")).attempts == {TWO: 3, THREE: 0}


def test_the_order_of_the_folder_does_not_matter(tmp_path: Path) -> None:
    made = [f"{name}/{file}.ipynb" for name in ("Zoë", "anna", "李") for file in (TWO, "x", "y (2)")]
    for place, order in (("a", made), ("b", made[::-1])):
        for number, name in enumerate(order):
            put(tmp_path / place, (name, SHEET + b" " * made.index(name)))
            os.utime(tmp_path / place / name, (5000 + number, 5000 + number))
    assert submissions.find(tmp_path / "a", ASSIGNMENT) == submissions.find(tmp_path / "b", ASSIGNMENT)


def test_every_learning_system_gives_the_same_class(tmp_path: Path) -> None:
    shown = {}
    for system in ("moodle", "canvas", "plain"):
        made = class_.make(tmp_path / system, 23, ["02-put-in-order", "03-clean-up"], system=system)
        told = found(tmp_path / system)
        assert set(told) == {unicodedata.normalize("NFC", one.name) for one in made}
        shown[system] = [{chapter: len(data) for chapter, data in told[one.name].sheets.items()} for one in made]
        assert all(not told[one.name].problems for one in made)
        assert [told[one.name].attempts[TWO] for one in made] == [2 if n % 10 == 3 else 1 for n in range(23)]
    assert shown["moodle"] == shown["canvas"] == shown["plain"]


def test_a_key_stays_when_another_student_comes(tmp_path: Path) -> None:
    owners = [names.Owner(name) for name in ("Anna", "李", "Zoë")]
    before = names.keys(owners)
    assert all(names.keys([*owners, names.Owner("Ben")])[one] == before[one] for one in owners)
