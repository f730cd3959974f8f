"""An assignment file defines exercises, versions and lateness, and its mistakes are reported."""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
from pathlib import Path

import pytest

from classroom.assignment import Assignment, AssignmentError, load, of_chapters
from classroom.collect.lateness import Rule
from classroom.handout.page import as_html, as_markdown

BERLIN = 'time_zone = "Europe/Berlin"\n'


def loaded(folder: Path, text: str) -> Assignment:
    (folder / "week.toml").write_text(text, encoding="utf-8")
    return load(folder / "week.toml")


def ids(assignment: Assignment) -> list[str]:
    return [about.id for about in assignment.exercises]


@pytest.mark.parametrize("name", ["2", "02", "02_insertion_points"])
def test_chapter_is_found_by_number_or_name(tmp_path: Path, name: str) -> None:
    assert of_chapters([name]).chapters == ("02_insertion_points",)
    listed = name if name == "2" else f'"{name}"'
    assert loaded(tmp_path, f"chapters = [{listed}]").exercises == of_chapters(["02"]).exercises


@pytest.mark.parametrize(
    ("chapters", "title"),
    [
        (["P1"], "Project P1"),
        (["8"], "Chapter 08"),
        (["09", "8"], "Chapters 08 and 09"),
        (["P1", "8", "09_profiling"], "Chapters 08 and 09, project P1"),
        (["0", "1", "2"], "Chapters 00, 01 and 02"),
    ],
)
def test_default_title_lists_the_numbers(chapters: list[str], title: str) -> None:
    assignment = of_chapters(chapters)
    assert assignment.title == title
    assert f"<h1>{title}</h1>" in as_html(assignment) and as_markdown(assignment).startswith(f"# {title}\n")
    assert of_chapters(chapters, "Week 2").title == "Week 2"


def test_listed_exercises_are_the_assignment(tmp_path: Path) -> None:
    listed = 'exercises = ["03-clean-up", "02-put-in-order"]\n'
    assert ids(loaded(tmp_path, listed)) == ["02-put-in-order", "03-clean-up"], "in the order of the book"
    assert ids(loaded(tmp_path, listed + "chapters = [2, 3]")) == ["02-put-in-order", "03-clean-up"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "give its exercises"),
        ("chapters = [77]", "there is no chapter '77'"),
        ('chapters = ["²"]', "there is no chapter '²'"),
        ("exercises = []", "is empty"),
        ('exercises = ["02-put-in-oder"]', "Did you mean: '02-put-in-order'"),
        ('exercises = ["02-put-in-order"]\nleave_out = ["02-halve-the-skip"]', "keep one of them"),
        ('exercises = ["02-put-in-order"]\nchapters = [3]', "chapters lacks 02_insertion_points"),
        ('exercises = ["02-put-in-order"]\nchapters = [2, 3]', "exercises lists none of its exercises"),
        ('chapters = [2]\ncounts = "first"', 'give one of "last begun", "best", "last"'),
        ('chapters = [2]\ndue = "tomorrow"', "is not a date"),
        ("chapters = [2]\ndue = 7", "is not a date"),
        ("chapters = [2]\n[points]\ndue = 2026-11-20", "due is below [points]"),
        ('chapters = [2]\ntime_zone = "Berlin"', "is not known"),
        ('chapters = [2]\ntime_zone = "../../etc/passwd"', "is not known"),
        ("chapters = [2]\n[late]\nper_week = 1", "'per_week' is not a known key"),
        ("chapters = [2]\n[late]\nper_day = 10", "give a share from 0 to 1"),
        ("chapters = [2]\n[late]\nper_day = -0.1", "that is not negative"),
        ("chapters = [2]\n[late]\nafter_days_nothing = 1.5", "whole number"),
        ("chapters = [2]\n[late]\ngrace_minutes = 5", "deducts nothing"),
        ('chapters = [2]\n[extensions]\n"Anna" = 3', "there is no due date"),
        ('chapters = [2]\ndue = 2026-11-20\n[extensions]\n"Anna" = "later"', "is not a date"),
        ('chapters = [2]\ndue = 2026-11-20\n[extensions]\n"Anna" = -1', "not negative"),
    ],
)
def test_mistakes_are_reported(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(AssignmentError, match=re.escape(says)):
        loaded(tmp_path, text)


def test_due_date_uses_the_time_zone(tmp_path: Path) -> None:
    def due(date: str) -> dt.datetime | None:
        return loaded(tmp_path, f"chapters = [2]\ndue = {date}\n{BERLIN}").deadline.due

    assert due("2026-11-20T23:59:00") == dt.datetime(2026, 11, 20, 22, 59, tzinfo=dt.UTC)
    assert due("2026-07-20T23:59:00") == dt.datetime(2026, 7, 20, 21, 59, tzinfo=dt.UTC), "summer time"
    assert due("2026-11-20T23:59:00-05:00") == dt.datetime(2026, 11, 21, 4, 59, tzinfo=dt.UTC)
    assert due("2026-11-20") == dt.datetime(2026, 11, 20, 22, 59, 59, tzinfo=dt.UTC), "a day ends at midnight"
    here = loaded(tmp_path, "chapters = [2]\ndue = 2026-11-20T23:59:00").deadline.due
    assert here == dt.datetime(2026, 11, 20, 23, 59).astimezone()


def test_digest_ignores_dates(tmp_path: Path) -> None:
    plain = of_chapters(["2"])
    dated = loaded(tmp_path, f'title = "{plain.title}"\nchapters = [2]\ndue = 2026-11-20\n[extensions]\n"Anna" = 2')
    variants = [
        dataclasses.replace(plain, counts="best"),
        dataclasses.replace(plain, exercises=plain.exercises[1:]),
        dataclasses.replace(plain, deadline=dataclasses.replace(plain.deadline, rule=Rule(per_day=0.1))),
    ]
    assert dated.digest == plain.digest, "how late a version is belongs to what was handed in"
    assert len({plain.digest, *(variant.digest for variant in variants)}) == 4


def test_handout_shows_due_date_and_rules(tmp_path: Path) -> None:
    late = "[late]\nper_day = 0.1\nat_most = 0.5\ngrace_minutes = 15\nafter_days_nothing = 7"
    assignment = loaded(tmp_path, f'chapters = [2]\ncounts = "best"\ndue = 2026-11-20T23:59:00\n{late}')
    for page in (as_html(assignment), as_markdown(assignment)):
        assert "Hand in by: 20 November 2026, 23:59" in page and "the best version of each exercise counts" in page
        assert "Each day or part of a day costs 10 % of the points, 50 % at most." in page
        assert "more than 7 days late earns none" in page and "first 15 minutes" in page
    plain = as_markdown(of_chapters(["2"]))
    assert "the last version in which you have begun an exercise counts" in plain and "late" not in plain
    assert "Hand in by: ____" in plain
