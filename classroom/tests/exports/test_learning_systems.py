"""Learning systems get back their own files with the right grades and no other byte changed."""

from __future__ import annotations

import codecs
import csv
import dataclasses
import datetime as dt
import io
import zipfile
from pathlib import Path

import pytest

from classroom.collect.lateness import Receipt
from classroom.exports import ExportError
from classroom.exports.canvas import Gradebook
from classroom.exports.cells import Cells
from classroom.exports.delivery import Systems, deliver
from classroom.exports.matching import Row, match
from classroom.exports.moodle import Worksheet, feedback, moment
from classroom.grade.records import Mark, Participant
from classroom.tests.grade.parts import EXERCISES, few, mark

MOODLE = (
    "Identifier,\"Full name\",\"Email address\",Status,Grade,\"Maximum Grade\",\"Grade can be changed\","
    "\"Last modified (submission)\",\"Last modified (grade)\",\"Feedback comments\"\r\n"
    "\"Participant 11\",\"Müller Anna\",a@x.org,\"Submitted for grading - \",,100.00,Yes,"
    "\"Wednesday, 18 November 2026, 2:14 PM\",-,\r\n"
    "\"Participant 12\",\"=cmd() \"\"Eve\"\"\",e@x.org,\"Submitted for grading - 1 day 2 hours late - Extension "
    "granted until: Monday, 23 November 2026, 11:59 PM\",,100.00,Yes,"
    "\"Sunday, 22 November 2026, 12:05 AM\",-,\"a\nb\"\r\n"
    "\"Participant 13\",\"Li Wei\",l@x.org,\"No submission - \",7.00,100.00,No,-,-,\r\n"
    "\"Participant 14\",\"Li Wei\",m@x.org,\"No submission - \",,100.00,Yes,-,-,"
)  # fmt: skip
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Week 1 (71),Week 2 (72),Current Score,Final Score\n"
    ",,,,,Manual Posting,,,\n"
    "    Points Possible,,,,,10,20,(read only),(read only)\n"
    "\"Müller, Anna\",501,S1,anna,\"FX, 101\",9.5,,90.1,\n"
    "\"O'Neill, D\"\"Arcy\",502,S2,darcy,\"FX, 101\",,3,,\n"
    "\"Li, Wei\",503,,,FX,1,EX,,\n"
    "\"Student, Test\",999,,,FX,,,,\n"
)  # fmt: skip


def person(name: str, number: str = "", folder: str = "") -> Participant:
    return Participant(f"{name}-{number}", name, number, folder)


def on_moodle(name: str, number: int) -> Participant:
    return person(name, str(number), f"{name}_{number}_assignsubmission_file_")


def on_canvas(name: str, number: int) -> Participant:
    return person(name, str(number), f"{name}_{number}_9_02.ipynb")


@pytest.fixture
def worksheet(tmp_path: Path) -> Path:
    path = tmp_path / "Grades-FX-Week 2-4.csv"
    path.write_bytes(codecs.BOM_UTF8 + MOODLE.encode())
    return path


@pytest.fixture
def gradebook(tmp_path: Path) -> Path:
    path = tmp_path / "2026-11-25_Grades.csv"
    path.write_bytes(CANVAS.encode())
    return path


# ---- unchanged bytes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_other_bytes_are_unchanged(tmp_path: Path, encoding: str, delimiter: str, end: str, last: bool) -> None:
    rows = [["name", '"grade"', "note"], ['"Müller, ""A"""', "", ' "x;y"'], ["é", '"1,5"', f'"two{end}lines"'], [""]]
    data = (end.join(delimiter.join(row) for row in rows) + end * last).encode(encoding)
    (tmp_path / "x.csv").write_bytes(data)
    cells = Cells(tmp_path / "x.csv")
    assert cells.data() == data
    assert cells.row(1) == ['Müller, "A"', "", "x;y"] and cells.row(2)[2] == f"two{end}lines"
    cells.fill(1, 1, "7.5")
    cells.fill(2, 1, "8.5")
    changed = data.decode(encoding).replace(f'"""{delimiter}{delimiter}', f'"""{delimiter}7.5{delimiter}')
    assert cells.data().decode(encoding) == changed.replace('"1,5"', '"8.5"')


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ('"Anna ""A, B""",1', ['Anna "A, B"', "1"]),
        ('"""",1', ['"', "1"]),
        ('"",1', ["", "1"]),
        ('O"Neill,1', ['O"Neill', "1"]),
        (' "x,y" ,1', ["x,y", "1"]),
        ('6" tall,5" small', ['6" tall', '5" small']),
    ],
)
def test_quotes_are_read_as_in_spreadsheets(tmp_path: Path, line: str, cells: list[str]) -> None:
    (tmp_path / "x.csv").write_text(f"a,b\n{line}\nc,d\n")
    read = Cells(tmp_path / "x.csv")
    assert read.row(1) == cells and read.row(2) == ["c", "d"] and len(read) == 3


def test_unknown_encoding_is_kept(tmp_path: Path) -> None:
    data = b'Identifier,Grade,x\r\nParticipant 1,,\x81\x8d\xff "\r\n'
    (tmp_path / "x.csv").write_bytes(data)
    filled = Worksheet(tmp_path / "x.csv").filled([on_moodle("A", 1)], {"A-1": 2.0}, 0.0)
    assert filled.data == data.replace(b",,", b",2.00,")


@pytest.mark.parametrize("data", [b"", b"\n", b'"', b"PK\3\4\0\0", b"\xff\xfe\0", b"a,b\nc"])
def test_foreign_files_are_reported(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.csv").write_bytes(data)
    for read in (Worksheet, lambda path: Gradebook(path, "Week 2")):
        with pytest.raises(ExportError, match=r"x\.csv"):
            read(tmp_path / "x.csv")
    with pytest.raises(ExportError, match="cannot be read"):
        Cells(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Identifier,Grade,Scale\nParticipant 1,,Good\n", "grades on a scale"),
        ("ID,Vollständiger Name,Status,Bewertung\nTeilnehmer/in1,A,,\n", "Set Moodle to English"),
    ],
)
def test_unusable_worksheets_are_reported(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ExportError, match=says):
        Worksheet(tmp_path / "x.csv")


# ---- matching students to rows ---------------------------------------------------------------------------------------

ROWS = [Row(1, "11", "Anna Müller"), Row(2, "12", "Li Wei"), Row(3, "13", "Li Wei"), Row(4, "14", "Zoë Ångström")]


def test_lms_id_identifies_the_student() -> None:
    people = [on_moodle("Li Wei", 13), on_moodle("Somebody Else", 11), on_moodle("Zoë Ångström", 99)]
    matching = match(people, ROWS, "Moodle")
    assert {key: row.at for key, row in matching.rows.items()} == {"Li Wei-13": 3, "Somebody Else-11": 1}
    assert matching.others == {"Zoë Ångström-99": "number 99 has no row"}, "the name of a known number is no evidence"


def test_unique_name_identifies_the_student_without_lms_id() -> None:
    people = [person("müller,  ANNA"), person("Li Wei"), person("A. Müller"), on_canvas("Zoë Ångström", 11)]
    matching = match(people, ROWS, "Moodle")
    assert {key: row.at for key, row in matching.rows.items()} == {"müller,  ANNA-": 1, "Zoë Ångström-11": 4}
    assert matching.others == {"Li Wei-": "others have the same name", "A. Müller-": "no row has this name"}
    twice = match([person("Anna Müller"), person("Anna Müller", "2")], ROWS, "Moodle")
    assert twice.rows == {} and set(twice.others.values()) == {"others have the same name"}
    taken = match([on_moodle("X", 11), person("Anna Müller")], ROWS, "Moodle")
    assert [row.at for row in taken.rows.values()] == [1], "a row is nobody else's once it is taken"
    assert match([person(""), person(" ")], [Row(1, "1", "")], "Moodle").rows == {}


# ---- Moodle ----------------------------------------------------------------------------------------------------------


def test_worksheet_gets_the_grades(worksheet: Path) -> None:
    people = [on_moodle("Müller Anna", 11), on_moodle("Eve", 12), on_moodle("Li Wei", 13), on_moodle("Ben", 77)]
    points = {people[0].key: 3.0, people[1].key: 1.0, people[2].key: 2.0, people[3].key: 1.0}
    filled = Worksheet(worksheet).filled(people, points, 3.0)
    before = (codecs.BOM_UTF8 + MOODLE.encode()).decode()
    after = before.replace('- ",,100.00,Yes,"Wed', '- ",100.00,100.00,Yes,"Wed')
    assert filled.data.decode() == after.replace('11:59 PM",,100.00', '11:59 PM",33.33,100.00')
    assert filled.count == 2 and filled.scaled == "3 points here are 100.00 on Moodle"
    assert filled.others == {
        "Li Wei-13": "Moodle says that the grade cannot be changed", "Ben-77": "number 77 has no row"
    }  # fmt: skip


def test_worksheet_keeps_decimal_commas(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('Identifier,Grade,Maximum grade\nParticipant 1,,"10,00"\n')
    assert b'Participant 1,"2,50","10,00"' in Worksheet(path).filled([on_moodle("A", 1)], {"A-1": 2.5}, 10.0).data


def test_worksheet_times_are_read(worksheet: Path) -> None:
    people = [on_moodle("Müller Anna", 11), on_moodle("Eve", 12), on_moodle("Li Wei", 13), on_canvas("Ben", 11)]
    utc = dt.UTC
    assert Worksheet(worksheet, "UTC").receipts_of(people) == {
        "Müller Anna-11": Receipt(moment=dt.datetime(2026, 11, 18, 14, 14, tzinfo=utc)),
        "Eve-12": Receipt(
            moment=dt.datetime(2026, 11, 22, 0, 5, tzinfo=utc),
            by=dt.timedelta(days=1, hours=2),
            until=dt.datetime(2026, 11, 23, 23, 59, tzinfo=utc),
        ),
        "Li Wei-13": Receipt(),
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Wednesday, 10 June 2026, 2:14 PM", dt.datetime(2026, 6, 10, 14, 14)),
        ("Wednesday, June 10, 2026, 12:14 AM", dt.datetime(2026, 6, 10, 0, 14)),
        ("Wednesday, 10 June 2026, 12:14\u202fPM", dt.datetime(2026, 6, 10, 12, 14)),
        ("Wednesday, 10 June 2026, 14:14", dt.datetime(2026, 6, 10, 14, 14)),
        ("-", None),
        ("", None),
        ("Mittwoch, 31. Dezember 2026", None),
        ("31 February 2026, 14:14", None),
        ("10 Juni 2026, 99:99", None),
    ],
)
def test_moodle_times_are_parsed(text: str, expected: dt.datetime | None) -> None:
    assert moment(text) == expected


def test_reports_keep_moodles_names(tmp_path: Path) -> None:
    people = [
        on_moodle("Müller Anna", 11),
        person("Ben", "12", "Ben_12_assignsubmission_file_my_02.ipynb"),
        person("Participant", "13", "Participant_13_assignsubmission_file"),
        person("By Hand"),
        on_canvas("canvas", 14),
        person("odd", "15", "\udcff_15_assignsubmission_file_"),
        on_moodle("No Report", 16),
    ]
    reports = {}
    for participant in people[:-1]:
        reports[participant.key] = tmp_path / f"{len(reports)}.html"
        reports[participant.key].write_text(f"for {participant.number}")
    data, inside = feedback(people, reports)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert texts == {
        "Müller Anna_11_assignsubmission_file_/report.html": "for 11",
        "Ben_12_assignsubmission_file_report.html": "for 12",
        "Participant_13_assignsubmission_file/report.html": "for 13",
    }
    assert inside == [participant.key for participant in people[:3]]


# ---- Canvas ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("title", ["Week 2", "week 2 (72)"])
def test_gradebook_gets_the_points(gradebook: Path, title: str) -> None:
    people = [on_canvas("mülleranna", 501), on_canvas("oneilldarcy", 502), on_canvas("liwei", 503), person("Nobody")]
    points = dict.fromkeys((participant.key for participant in people), 1.5) | {people[1].key: 1.0}
    filled = Gradebook(gradebook, title).filled(people, points, 3.0)
    after = CANVAS.replace('101",9.5,,90.1', '101",9.5,10,90.1').replace(",,3,,", ",,6.67,,")
    assert filled.data.decode() == after
    assert filled.count == 2 and filled.scaled == "3 points here are 20 on Canvas"
    assert filled.others == {"liwei-503": "Canvas has EX in this cell", "Nobody-": "no row has this name"}


@pytest.mark.parametrize("title", ["Week 3", "", "Current Score", "Section"])
def test_unknown_canvas_assignment_is_reported(gradebook: Path, title: str) -> None:
    with pytest.raises(ExportError, match=r"--canvas-column\. It has “Week 1 \(71\)”, “Week 2 \(72\)”\."):
        Gradebook(gradebook, title)


def test_gradebook_with_separate_first_and_last_names(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("LastName,FirstName,ID,Section,Week 2 (1)\nMüller,Anna,5,FX,\n", encoding="utf-8")
    filled = Gradebook(path, "Week 2").filled([person("Anna Müller")], {"Anna Müller-": 2.0}, 3.0)
    assert filled.data.decode().endswith("Müller,Anna,5,FX,2\n") and filled.scaled == ""


# ---- a whole class ---------------------------------------------------------------------------------------------------


def marks_of(participant: Participant, *statuses: str, **fields: object) -> list[Mark]:
    marks = [
        mark(participant.key, name, status=status, **fields) for name, status in zip(EXERCISES, statuses, strict=True)
    ]
    return [
        dataclasses.replace(mark, student=participant.student, points=0.0 if mark.status == "failed" else mark.points)
        for mark in marks
    ]


def test_class_is_delivered(tmp_path: Path, worksheet: Path, gradebook: Path) -> None:
    people = [on_moodle("Müller Anna", 11), on_moodle("=cmd()", 12), on_moodle("Li Wei", 14), on_moodle("Away", 15)]
    marks = [
        *marks_of(people[0], "passed", "passed"),
        *marks_of(people[1], "passed", "failed"),
        *marks_of(people[2], "passed", "error"),
    ]
    home = tmp_path / "marks" / "students" / people[0].key
    home.mkdir(parents=True)
    (home / "report.html").write_text("for Anna")
    systems = Systems((worksheet, Worksheet(worksheet)), (gradebook, Gradebook(gradebook, "Week 2")))
    lines = deliver(tmp_path / "marks", few(), people, marks, systems)
    with (tmp_path / "marks/totals.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["student"], row["total"], row["not_graded"]) for row in rows] == [
        ("Müller Anna", "2.0", "0"), ("'=cmd()", "1.0", "0"), ("Li Wei", "2.0", "1")
    ]  # fmt: skip
    assert [row[EXERCISES[1]] for row in rows] == ["1.0", "0.0", "1.0"]
    filled = Cells(tmp_path / "marks/moodle" / worksheet.name)
    assert [filled.row(at)[4] for at in range(1, 5)] == ["66.67", "33.33", "7.00", ""], "3 points there are out of 100"
    assert zipfile.ZipFile(tmp_path / "marks/moodle/feedback.zip").namelist() == [f"{people[0].folder}/report.html"]
    text = "\n".join(lines)
    assert "Without a grade, because the grader failed on an answer: Li Wei." in text
    assert "Away (number 15 has no row)" in text and "2 of 4 students" in text
    assert worksheet.read_bytes() == codecs.BOM_UTF8 + MOODLE.encode(), "what was downloaded stays"
