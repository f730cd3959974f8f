"""README is short and up to date: the report of its exercise, and the minutes and exercises of each chapter."""

from __future__ import annotations

import re

import pytest

from fxbook.catalogue import catalogue
from press import ROOT
from press.book import the_book
from press.manuscript.reading import prose_lines

README = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_LINES, MOST_BYTES = 90, 300_000


def test_readme_shows_the_current_report(capsys: pytest.CaptureFixture[str]) -> None:
    [(code, report)] = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == report


def test_each_chapter_has_a_row_with_its_minutes_and_exercises() -> None:
    rows = re.findall(
        r"^\| \[(\w\w)\]\(chapters/(\w+)\.ipynb\) \| .+ "
        r"\| (\d+)(?:, and (\d+) hours)? \| \[(\d+)\]\(exercises/(\w+)\.ipynb\) \|$",
        README,
        re.M,
    )
    for number, name, minutes, hours, exercises, sheet in rows:
        text = "\n".join(
            line
            for cell in the_book().page(the_book().chapters.get(name, ROOT / f"book/chapters/{name}.md")).cells
            for _, line in prose_lines(cell)
        )
        assert sheet == name and minutes == re.search(r"\b(\d+) minutes", text)[1]
        solving = [about.minutes for about in catalogue().values() if about.id.startswith(f"{number}-")]
        assert int(exercises) == len(solving) and hours in ("", str(round(sum(solving) / 60)))
    assert {name for _, name, *_ in rows} == {*the_book().chapters, "P1_one_model"}


def test_readme_is_short_and_its_pictures_small() -> None:
    pictures = {ROOT / path for path in re.findall(r"book/\w+\.(?:png|gif)", README)}
    assert README.count("\n") <= MOST_LINES and pictures
    assert sum(picture.stat().st_size for picture in pictures) < MOST_BYTES
