"""Submissions are found under any naming scheme; what the names do not show is reported, not guessed."""

from __future__ import annotations

import datetime as dt
import os
import unicodedata
from pathlib import Path

import pytest

from classroom.assignment import load
from classroom.collect import files, names, submissions
from classroom.collect.lateness import Lateness
from classroom.collect.versions import File, versions
from classroom.tests import students as class_
from classroom.tests.collect.folders import ASSIGNMENT, OTHER, SHEET, THREE, TWO, by_student, only, put, sheet, zip_of

# ---- owner -----------------------------------------------------------------------------------------------------------


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
        (f"Week 2_jdoe_attempt_2026-11-20-14-03-22_{TWO}.ipynb", "jdoe", "jdoe"),
        (f"LATE_anon_Ab1_456_{TWO}.ipynb", "anon_Ab1", "anon-ab1-Ab1"),
    ],
)
def test_student_is_identified_by_the_systems_name(tmp_path: Path, handed_in: str, student: str, key: str) -> None:
    put(tmp_path, (handed_in, zip_of({f"{TWO}.ipynb": SHEET}) if handed_in.endswith(".zip") else SHEET))
    put(tmp_path, f"{handed_in.partition('/')[0] if 'submitted' in handed_in else ''}/zz other/{TWO}.ipynb".lstrip("/"))
    submission = by_student(tmp_path)[student]
    assert (submission.key, submission.sheets, submission.problems) == (key, {TWO: SHEET}, {})


def test_unicode_forms_of_a_name_are_one_student(tmp_path: Path) -> None:
    for form, name, data in (("NFC", TWO, SHEET), ("NFD", THREE, OTHER)):
        put(tmp_path, (f"{unicodedata.normalize(form, 'Zoë Ångström')}/{name}.ipynb", data))
    submission = only(tmp_path)
    assert submission.student == unicodedata.normalize("NFC", "Zoë Ångström")
    assert set(submission.sheets) == {TWO, THREE}


def test_students_with_equal_names_stay_apart(tmp_path: Path) -> None:
    put(tmp_path, *(f"Li Wei_{number}_assignsubmission_file_/{TWO}.ipynb" for number in (1, 2)))
    assert [submission.key for submission in submissions.find(tmp_path, ASSIGNMENT)] == ["li-wei-1", "li-wei-2"]
    put(other := tmp_path / "by hand", *(f"{name}/{TWO}.ipynb" for name in ("Li Wei", "li-wei", "李伟", "李薇")))
    keys = [submission.key for submission in submissions.find(other, ASSIGNMENT)]
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
    "%n%s",
    "-rf",
]
ODD += ["'; DROP TABLE", "x" * 240, "a\\b", "\x1b[31mred", "~", "-rf", "$(id)", "\udcff"]


@pytest.mark.parametrize("name", ODD)
def test_odd_names_give_safe_keys(tmp_path: Path, name: str) -> None:
    home = "dots" if name == ".." else name
    put(tmp_path, f"{home}/{TWO}.ipynb", f"other/{TWO}.ipynb")
    archive = tmp_path / "class.zip"
    if "\udcff" not in name:
        archive.write_bytes(zip_of({f"{name}/{TWO}.ipynb": SHEET, f"other/{TWO}.ipynb": SHEET}))
    for students in (by_student(tmp_path), by_student(archive) if archive.exists() else {}):
        for submission in students.values():
            assert set(submission.key) <= set("abcdefghijklmnopqrstuvwxyz0123456789-"), submission.key
            assert 0 < len(submission.key) <= 80, submission.key
            assert submission.student.isprintable() or "\u200d" in submission.student
            assert len(submission.student) <= 120 and submission.student.encode()
    if name != "..":
        assert len(by_student(tmp_path)) >= 2, "the student is not lost"


def test_gradescope_names_come_from_its_table(tmp_path: Path) -> None:
    table = "submission_1:\n  :submitters:\n  - :name: Anna Müller\n    :sid: '17'\n  :score: 0\n"
    put(tmp_path / "assignment_5_export", f"submission_1/{TWO}.ipynb", f"submission_2/{TWO}.ipynb")
    (tmp_path / "assignment_5_export/submission_metadata.yml").write_text(table)
    assert list(by_student(tmp_path)) == ["Anna Müller", "submission_2"]
    assert submissions.look(tmp_path, ASSIGNMENT).unused == ("submission_metadata.yml",)


@pytest.mark.parametrize("damage", ["&a [*a]", "{", "!!python/object/apply:os.system ['false']", "a: 1"])
def test_damaged_gradescope_table_loses_no_student(tmp_path: Path, damage: str) -> None:
    put(tmp_path, f"submission_1/{TWO}.ipynb", ("submission_metadata.yml", damage.encode()))
    assert list(by_student(tmp_path)) == ["submission_1"]


def test_empty_submission_is_kept(tmp_path: Path) -> None:
    put(tmp_path, f"anna/{TWO}.ipynb", ("ben/notes.pdf", b"%PDF"))
    (tmp_path / "carl").mkdir()
    (tmp_path / "Dora_5_assignsubmission_onlinetext_").mkdir()
    students = by_student(tmp_path)
    assert {name: set(submission.sheets) for name, submission in students.items()} == {
        "anna": {TWO}, "ben": set(), "carl": set(), "Dora": set()
    }  # fmt: skip
    assert students["carl"].problems == {}
    assert "notes.pdf is not a notebook" in students["ben"].problems[TWO]


def test_unused_files_are_reported(tmp_path: Path) -> None:
    put(tmp_path, f"anna/{TWO}.ipynb", "grades.csv", "readme.txt", ".DS_Store", "__MACOSX/x.ipynb")
    assert submissions.look(tmp_path, ASSIGNMENT).unused == ("grades.csv", "readme.txt")


@pytest.mark.parametrize("empty", [True, False])
def test_folder_without_submissions_is_refused(tmp_path: Path, empty: bool) -> None:
    if not empty:
        put(tmp_path, "readme.txt")
    with pytest.raises(submissions.SubmissionsError, match="contains no submissions"):
        submissions.find(tmp_path, ASSIGNMENT)
    with pytest.raises(submissions.SubmissionsError, match="There is no folder"):
        submissions.find(tmp_path / "nowhere", ASSIGNMENT)


# ---- chapter ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [f"{TWO}.ipynb", "insertion points.ipynb", "02-Insertion-Points FINAL.ipynb", "homework final.ipynb", "x.ipynb.txt",
     "Untitled7.ipynb", "05.ipynb", "a/b/c/d.ipynb"],
)  # fmt: skip
def test_chapter_is_identified_by_name_or_content(tmp_path: Path, name: str) -> None:
    submission = only(put(tmp_path, f"anna/{name}"))
    assert submission.sheets == {TWO: SHEET} and submission.problems == {}
    assert submission.names == {TWO: Path(name).name}


def test_notebook_may_contain_two_chapters(tmp_path: Path) -> None:
    both = sheet("02-put-in-order", "03-clean-up")
    assert only(put(tmp_path, ("anna/all.ipynb", both))).sheets == {TWO: both, THREE: both}


def test_dedicated_notebook_wins_over_a_mixed_one(tmp_path: Path) -> None:
    mixed = sheet("02-put-in-order", "03-clean-up", "03-every-relu")
    submission = only(put(tmp_path, ("anna/a.ipynb", SHEET), ("anna/b.ipynb", mixed)))
    assert submission.sheets == {TWO: SHEET, THREE: mixed}


def test_content_overrides_the_name(tmp_path: Path) -> None:
    submission = only(put(tmp_path, (f"anna/{TWO}.ipynb", OTHER)))
    assert submission.sheets == {THREE: OTHER}
    assert f"{TWO}.ipynb contains the exercises of {THREE}" in submission.problems[TWO]


def test_answers_identify_a_chapter_without_checks(tmp_path: Path) -> None:
    bare = class_.from_cells(["import torch\ndef put_in_order(traced):\n    pass"])
    assert only(put(tmp_path, ("anna/x.ipynb", bare))).sheets == {TWO: bare}
    submission = only(put(tmp_path / "none", ("anna/x.ipynb", class_.from_cells(["reading = put_in_order"]))))
    assert "x.ipynb contains no exercise of the book" in submission.problems[TWO]


def test_script_counts_without_a_notebook(tmp_path: Path) -> None:
    script = b"# %%\ndef put_in_order(traced):\n    pass\n"
    helper = b"# %%\nimport torch\n"
    submission = only(
        put(tmp_path, (f"anna/{TWO}.py", script), (f"anna/{THREE}.ipynb", OTHER), ("anna/helper.py", helper))
    )
    assert submission.sheets == {TWO: script, THREE: OTHER}
    assert submission.attempts == {TWO: 1, THREE: 1} and submission.problems == {}
    put(tmp_path, f"anna/{TWO}.ipynb")
    for path in (tmp_path / "anna").iterdir():
        os.utime(path, (1000, 1000))
    submission = only(tmp_path)
    assert submission.sheets[TWO] == SHEET and submission.attempts[TWO] == 1
    assert only(put(tmp_path, (f"anna/attempt 2/{TWO}.py", script))).sheets[TWO] == script


def test_checkpoints_and_the_library_are_skipped(tmp_path: Path) -> None:
    ignored = (f".ipynb_checkpoints/{TWO}-checkpoint.ipynb", f"__MACOSX/._{TWO}.ipynb", f"fxbook/{TWO}.ipynb")
    submission = only(put(tmp_path, f"anna/{TWO}.ipynb", *(f"anna/{name}" for name in ignored)))
    assert submission.sheets == {TWO: SHEET} and submission.attempts[TWO] == 1


# ---- version ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("mulleranna_123_456_{}.ipynb", "mulleranna_LATE_123_789_{}-1.ipynb"),
        ("mulleranna_123_9_{}-10.ipynb", "mulleranna_123_10_{}-2.ipynb"),
        ("Week_2_jdoe_attempt_2026-11-20-14-03-22_{} (99).ipynb", "Week_2_jdoe_attempt_2026-11-21-09-00-00_{}.ipynb"),
        ("anna/{}.ipynb", "anna/{} (1).ipynb"),
        ("anna/{}.ipynb", "anna/{}-Copy1.ipynb"),
        ("anna/{}.ipynb", "anna/{} copy.ipynb"),
        ("anna/{}.ipynb", "anna/{}_v2.ipynb"),
        ("anna/Attempt 9/{}.ipynb", "anna/Attempt 10/{}.ipynb"),
        ("anna/attempt 2/{} (7).ipynb", "anna/attempt 3/{}.ipynb"),
    ],
)
def test_highest_number_counts_whatever_the_time(tmp_path: Path, first: str, last: str) -> None:
    put(tmp_path, (first.format(TWO), SHEET + b" "), (last.format(TWO), SHEET), (f"zz/{TWO}.ipynb", SHEET))
    os.utime(tmp_path / last.format(TWO), (1, 1))
    submission = submissions.find(tmp_path, ASSIGNMENT)[0]
    assert submission.sheets == {TWO: SHEET} and submission.attempts[TWO] >= 2


def test_last_saved_file_counts_without_numbers(tmp_path: Path) -> None:
    put(tmp_path, ("anna/old.ipynb", SHEET + b" "), ("anna/new.ipynb", SHEET))
    os.utime(tmp_path / "anna/old.ipynb", (1000, 1000))
    os.utime(tmp_path / "anna/new.ipynb", (2000, 2000))
    submission = only(tmp_path)
    assert submission.sheets == {TWO: SHEET} and submission.attempts[TWO] == 2


def test_tied_versions_are_reported_not_guessed(tmp_path: Path) -> None:
    put(tmp_path, "anna/one.ipynb", "anna/two.ipynb")
    for path in (tmp_path / "anna").iterdir():
        os.utime(path, (1000, 1000))
    submission = only(tmp_path)
    assert submission.sheets == {} and submission.attempts[TWO] == 2
    assert "2 files were handed in" in submission.problems[TWO]
    assert "anna/one.ipynb, anna/two.ipynb" in submission.problems[TWO]
    (tmp_path / "anna/two.ipynb").write_bytes(SHEET)
    os.utime(tmp_path / "anna/two.ipynb", (1000, 1000))
    assert only(tmp_path).sheets == {TWO: SHEET}, "the same file twice is one"


def test_earlier_version_never_replaces_the_last(tmp_path: Path) -> None:
    put(tmp_path, f"anna/{TWO}.ipynb", (f"anna/{TWO}-1.ipynb", b" " * (files.FILE + 1)))
    submission = only(tmp_path)
    assert submission.sheets == {} and f"{TWO}-1.ipynb has 10 MB" in submission.problems[TWO]


@pytest.mark.parametrize(
    "name", [f"mulleranna_123_456_{TWO}-2.ipynb", f"anna/{TWO} (99).ipynb", f"anna/attempt 99/{TWO}-Copy99.ipynb"]
)
def test_attempts_count_distinct_files(tmp_path: Path, name: str) -> None:
    assert only(put(tmp_path, name)).attempts == {TWO: 1, THREE: 0}
    other = name.replace("99", "98").replace("-2", "-1").replace("456", "455")
    submission = only(put(tmp_path, (other, SHEET + b"x"), (f"{other[:-6]} copy.ipynb".replace("455", "454"), SHEET)))
    assert submission.attempts[TWO] == 2, "the same file twice is one"


@pytest.mark.parametrize("claims", ["{} (2026).ipynb", "{}-2026.ipynb", "{}_v100.ipynb", "attempt 1000/{}.ipynb"])
def test_implausible_version_numbers_are_ignored(tmp_path: Path, claims: str) -> None:
    first, last = f"anna/{claims.format(TWO)}", f"anna/{TWO} (2).ipynb"
    submission = only(put(tmp_path, (first, SHEET + b" "), (last, SHEET)))
    assert submission.sheets == {TWO: SHEET} and submission.attempts[TWO] == 2


# ---- several versions ------------------------------------------------------------------------------------------------


def test_versions_are_kept_oldest_first(tmp_path: Path) -> None:
    contents = [SHEET + b" " * number for number in range(4)]
    put(tmp_path, *((f"anna/{TWO} ({number}).ipynb", data) for number, data in enumerate(contents, 1)))
    submission = only(tmp_path)
    assert [version.data for version in submission.versions[TWO]] == contents
    assert [version.number for version in submission.versions[TWO]] == [1, 2, 3, 4]
    earlier = submission.with_version(TWO, submission.versions[TWO][0])
    assert earlier.sheets == {TWO: contents[0]} and earlier.names == {TWO: f"{TWO} (1).ipynb"}
    assert earlier.versions == submission.versions


def test_versions_are_limited_in_number_and_bytes(tmp_path: Path) -> None:
    put(tmp_path, *((f"anna/{TWO} ({number}).ipynb", SHEET + b" " * number) for number in range(1, 21)))
    submission = only(tmp_path)
    assert submission.attempts[TWO] == 20
    assert [version.number for version in submission.versions[TWO]] == list(range(11, 21))
    large = put(tmp_path / "large", *((f"ben/{TWO} ({n}).ipynb", SHEET + b" " * ((5 << 20) + n)) for n in range(1, 5)))
    submission = only(large)
    assert submission.attempts[TWO] == 4 and [version.number for version in submission.versions[TWO]] == [3, 4]


# ---- owners and times from the learning system -----------------------------------------------------------------------


def test_blackboard_user_names_may_contain_underscores(tmp_path: Path) -> None:
    stamp = "attempt_2026-11-20-14-03-22"
    put(tmp_path, *(f"Week_2_{user}_{stamp}_{TWO}.ipynb" for user in ("a_doe", "b_doe", "smith")))
    (tmp_path / f"Week_2_smith_{stamp}.txt").write_text("Name: Smith")
    assert set(by_student(tmp_path)) == {"a_doe", "b_doe", "smith"}
    tricky = put(tmp_path / "tricky", f"Week 2_eve_{stamp}_x_attempt_2020-01-01-00-00-00_{TWO}.ipynb")
    [eve] = look(tricky, "[late]\nper_day = 0.1\n").submissions
    assert eve.student == "eve" and eve.versions[TWO][0].late_days == 1, "the first moment is Blackboard's"


def test_moodle_number_cannot_be_forged(tmp_path: Path) -> None:
    students = by_student(put(tmp_path, f"Eve_7_assignsubmission_file_8_assignsubmission_file_/{TWO}.ipynb"))
    assert [submission.number for submission in students.values()] == ["8"]


def look(folder: Path, rules: str, *args: object) -> submissions.Collection:
    """Collect for an assignment that was due on 20 November 2026 at noon UTC."""
    path = folder.parent / f"{folder.name}.toml"
    path.write_text(f'chapters = [2, 3]\ndue = 2026-11-20T12:00:00\ntime_zone = "UTC"\n{rules}', encoding="utf-8")
    return submissions.look(folder, load(path), *args)


RULE = "[late]\nper_day = 0.1\n"
STAMPED = "Week 2_{}_attempt_2026-11-{}-11-00-00_{}.ipynb"


def days(collection: submissions.Collection) -> dict[str, list[int]]:
    return {
        submission.student: [version.late_days for version in submission.versions[TWO]]
        for submission in collection.submissions
    }


def test_lateness_comes_from_the_learning_system(tmp_path: Path) -> None:
    home = put(
        tmp_path / "blackboard",
        *(STAMPED.format("anna", day, TWO) for day in (19, 21, 23)),
        STAMPED.format("ben", 22, TWO),
        STAMPED.format("late_ly", 25, TWO),
    )
    collection = look(home, f'{RULE}[extensions]\n"ben" = 2\n')
    assert days(collection) == {"anna": [0, 1, 3], "ben": [0], "late_ly": [5]}
    assert collection.untimed == 0 and collection.notes == ()
    home = put(tmp_path / "canvas", f"anna_LATE_1_11_{TWO}.ipynb", f"ben_2_12_{TWO}.ipynb", f"late_3_13_{TWO}.ipynb")
    put(home, f"zoe_late_4_14_{TWO}.ipynb")
    collection = look(home, RULE)
    assert days(collection) == {"anna": [1], "ben": [0], "late": [0], "zoe": [0]} and collection.untimed == 0
    assert "it counts as one day" in collection.submissions[0].versions[TWO][0].late_note


@pytest.mark.parametrize("moment", ["2026-11-21 11:00:00 Z", "2026-11-21T12:30:00+01:30", "'2026-11-21 11:00:00'"])
def test_gradescope_times_are_read(tmp_path: Path, moment: str) -> None:
    home = put(tmp_path / "export", f"submission_1/{TWO}.ipynb", f"submission_2/{TWO}.ipynb")
    table = f"submission_1:\n  :submitters:\n  - :name: Anna\n  :created_at: {moment}\n"
    (home / "submission_metadata.yml").write_text(table)
    assert days(look(home, RULE)) == {"Anna": [1], "submission_2": [0]}


def test_names_inside_a_submission_prove_no_time(tmp_path: Path) -> None:
    inside = {f"{STAMPED.format('ben', 1, TWO)}": SHEET, f"ben_2_12_{TWO}.ipynb": SHEET + b" "}
    home = put(tmp_path / "blackboard", (STAMPED.format("anna", 23, "work").replace("ipynb", "zip"), zip_of(inside)))
    put(home, STAMPED.format("zoe", 23, TWO))
    assert days(look(home, RULE)) == {"anna": [3, 3], "zoe": [3]}
    plain_ = put(tmp_path / "plain", f"anna/{STAMPED.format('anna', 1, TWO)}", f"ben/ben_LATE_2_12_{TWO}.ipynb")
    collection = look(plain_, RULE)
    assert days(collection) == {"anna": [0], "ben": [0]} and collection.untimed == 2


def test_late_file_time_is_reported_and_costs_nothing(tmp_path: Path) -> None:
    home = put(tmp_path / "plain", f"anna/{TWO}.ipynb", f"ben/{TWO}.ipynb")
    for name, moment in (("anna", "2026-11-22T13:00+00:00"), ("ben", "2026-11-20T11:00+00:00")):
        saved = dt.datetime.fromisoformat(moment).timestamp()
        os.utime(home / name / f"{TWO}.ipynb", (saved, saved))
    collection = look(home, RULE)
    notes = {submission.student: submission.versions[TWO][0].late_note for submission in collection.submissions}
    assert days(collection) == {"anna": [0], "ben": [0]}
    assert "saved 3 days after it was due" in notes["anna"] and notes["ben"] == ""


def test_resubmitted_file_keeps_its_first_lateness(tmp_path: Path) -> None:
    home = put(tmp_path / "blackboard", *((STAMPED.format("anna", day, TWO), SHEET) for day in (19, 24)))
    assert days(look(home, RULE)) == {"anna": [0]}
    given = names.Given(names.Owner("anna"))
    twice = [
        File(files.Entry((name,), 4, 0.0, lambda _: b"same"), given, b"same", "", TWO, {TWO: 1}) for name in ("a", "b")
    ]
    for late in ({"a": 4, "b": 0}, {"a": 0, "b": 4}):
        [version], count = versions(twice, lambda file, late=late: Lateness(late[file.entry.name]))
        assert (version.late_days, count) == (0, 1)


def test_ambiguous_extensions_are_reported(tmp_path: Path) -> None:
    home = put(tmp_path / "moodle", *(f"Li Wei_{number}_assignsubmission_file_/{TWO}.ipynb" for number in (1, 2, 3)))
    collection = look(home, f'{RULE}[extensions]\n"Lee Wei" = 2\n"Li Wei" = 1\n"2" = 5\nli-wei-3 = 6\n')
    assert [note.partition(":")[0] for note in collection.notes] == [
        "[extensions] Lee Wei is nobody who handed something in",
        "[extensions] Li Wei is 3 students, who all get it",
    ]


def test_the_order_of_the_folder_does_not_matter(tmp_path: Path) -> None:
    paths = [f"{name}/{file}.ipynb" for name in ("Zoë", "anna", "李") for file in (TWO, "x", "y (2)")]
    for place, order in (("a", paths), ("b", paths[::-1])):
        for number, name in enumerate(order):
            put(tmp_path / place, (name, SHEET + b" " * paths.index(name)))
            os.utime(tmp_path / place / name, (5000 + number, 5000 + number))
    assert submissions.find(tmp_path / "a", ASSIGNMENT) == submissions.find(tmp_path / "b", ASSIGNMENT)


def test_learning_systems_give_the_same_class(tmp_path: Path) -> None:
    sheet_sizes = {}
    for system in ("moodle", "canvas", "plain"):
        students = class_.make(tmp_path / system, 23, ["02-put-in-order", "03-clean-up"], system=system)
        collected = by_student(tmp_path / system)
        assert set(collected) == {unicodedata.normalize("NFC", student.name) for student in students}
        sheet_sizes[system] = [
            {chapter: len(data) for chapter, data in collected[student.name].sheets.items()} for student in students
        ]
        assert all(not collected[student.name].problems for student in students)
        assert [collected[student.name].attempts[TWO] for student in students] == [
            2 if n % 10 == 3 else 1 for n in range(23)
        ]
    assert sheet_sizes["moodle"] == sheet_sizes["canvas"] == sheet_sizes["plain"]


def test_keys_do_not_change_when_students_are_added(tmp_path: Path) -> None:
    owners = [names.Owner(name) for name in ("Anna", "李", "Zoë")]
    before = names.keys(owners)
    assert all(names.keys([*owners, names.Owner("Ben")])[owner] == before[owner] for owner in owners)
