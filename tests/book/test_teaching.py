"""The guide for teachers: sessions fit into 90 minutes, and files and commands work as the guide shows them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from classroom import assignment
from classroom.__main__ import parser
from classroom.grade import hidden
from fxbook.catalogue import catalogue
from press import ROOT

GUIDE = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
SESSIONS = re.findall(r"^### (Session \d.*?)\n(.*?)(?=^### |^## |\Z)", GUIDE, re.MULTILINE | re.DOTALL)
_ID = re.compile(r"`([0-9P]\d-[a-z0-9-]+)`")


def test_there_are_six_sessions() -> None:
    assert [title.partition(":")[0] for title, _ in SESSIONS] == [f"Session {n}" for n in range(1, 7)]


def test_every_exercise_named_is_in_the_book() -> None:
    assert set(_ID.findall(GUIDE)) <= set(catalogue())


@pytest.mark.parametrize(("title", "text"), SESSIONS, ids=lambda part: part.partition(":")[0])
def test_a_session_is_planned(title: str, text: str) -> None:
    for part in ("*Goals*", "*Ask*", "*Show*", "*In class*", "*At home*"):
        assert part in text
    assert len(re.findall(r'^\| "', text, re.MULTILINE)) == 3, "three misconceptions, and how to correct each"
    in_class, _, _ = text.partition("*In class*")[2].partition("*At home*")
    minutes = sum(catalogue()[name].minutes for name in _ID.findall(in_class) if " or " not in in_class)
    stated = int(re.search(r"\((\d+) minutes\)", in_class)[1])
    assert stated <= 40
    if " or " not in in_class:
        assert stated == minutes


def block(language: str, name: str) -> str:
    """The block of code that begins with the name of its file."""
    return re.search(rf"^```{language}\n(# {name}.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)[1]


def test_assignment_and_hidden_variants_are_valid(tmp_path: Path) -> None:
    (tmp_path / "hidden.py").write_text(block("python", "hidden.py"), encoding="utf-8")
    path = tmp_path / "week2.toml"
    # Uncomment the optional settings.
    text = re.sub(r"^# (?=hidden|public|counts|due)", "", block("toml", "week2.toml"), flags=re.M)
    path.write_text(text, encoding="utf-8")
    week = assignment.load(path)
    assert week.counts == "last begun" and week.deadline.due
    path.write_text(re.sub(r"^chapters|^leave_out", "# \\g<0>", text, flags=re.M).replace("# exercises", "exercises"))
    assert len(assignment.load(path).exercises) == 2
    path.write_text(text)
    assert week.chapters == ("02_insertion_points", "03_replacement")
    assert week.points["02-put-in-order"] == 4 and "03-every-relu" not in week.points
    variants = hidden.read(week.hidden)
    assert len(variants.seeds) == 2 and set(variants.exercises) == {"03-drop-dropout"}


def test_late_rule_is_valid(tmp_path: Path) -> None:
    text = re.search(r"^```toml\n(due = .*?)^```", GUIDE, re.MULTILINE | re.DOTALL)[1]
    path = tmp_path / "week2.toml"
    path.write_text("chapters = [2]\n" + re.sub(r"^# (?=\w+ =)", "", text, flags=re.MULTILINE), encoding="utf-8")
    deadline = assignment.load(path).deadline
    assert deadline.rule.costs and deadline.rule.grace_minutes == 15 and len(deadline.extensions) == 2


PAGES = [ROOT / name for name in ("book/teaching.md", "classroom/jupyterhub/README.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_submissions_and_marks_are_outside_the_book(page: Path) -> None:
    count = 0
    for line in re.findall(r"^(?:\$ )?python3 -m classroom (.+)$", page.read_text(), re.MULTILINE):
        words = shlex.split(line)
        places = [
            words[at + 1] for at, word in enumerate(words) if word in ("--out", "--assignment", "--moodle", "--canvas")
        ]
        places += words[1:2] if words[0] in ("grade", "report") else []
        count += len(places)
        assert [name for name in places if not name.startswith("~/")] == [], line
    assert count > 2


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no repository")
@pytest.mark.parametrize("name", ["marks/x.html", "marks-week2/x", "submissions/anna/x.ipynb", "a/gradebook.jsonl",
                                  "a/b/grades.csv", "totals.csv", "submitted/anna/x.ipynb"])  # fmt: skip
def test_marks_are_ignored_by_git(name: str) -> None:
    assert subprocess.run(["git", "check-ignore", "-q", name], cwd=ROOT).returncode == 0


def test_guide_says_that_solutions_are_public() -> None:
    first = GUIDE.partition("\n## Hand out\n")[2].strip()
    assert first.startswith("**The solutions are public.**")
    before = first.partition("classroom release --assignment")[0]
    for part in ("Hidden variants", "Your own exercises", "A private fork", "`docs/authoring.md`", "make notebooks"):
        assert part in before
    assert "\n## Add an exercise\n" in (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")


def git(*arguments: str, folder: Path) -> str:
    known = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    known |= {f"GIT_{who}_{what}": "a@b.example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env={**os.environ, **known}, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_private_fork_can_pull_changes_of_the_book(tmp_path: Path) -> None:
    book, own = tmp_path / "book", tmp_path / "own.git"
    git("init", "-q", "-b", "main", str(book), folder=tmp_path)
    git("init", "-q", "--bare", str(own), folder=tmp_path)
    git("commit", "-q", "--allow-empty", "-m", "The book", folder=book)
    commands = re.findall(r"^\$ (git .+|cd .+)$", GUIDE, re.MULTILINE)
    commands = [command for command in commands if not command.startswith("cd ~")]
    git("clone", "-q", str(book), "our-book", folder=tmp_path)
    folder = tmp_path / "our-book"
    for command in commands:
        words = command.replace("ADDRESS-OF-YOUR-REPOSITORY", str(own)).split()
        if words[0] == "cd":
            folder /= words[1]
        else:
            git(*words[1:], folder=folder)
    git("commit", "-q", "--allow-empty", "-m", "Our exercise", folder=folder)
    git("commit", "-q", "--allow-empty", "-m", "A later page", folder=book)
    [later] = re.findall(r"`git (pull .+?)`", GUIDE)
    git(*later.split(), folder=folder)
    git("push", "-q", folder=folder)
    assert {"The book", "Our exercise", "A later page"} <= set(
        git("log", "--format=%s", "main", folder=own).splitlines()
    )
    assert "Our exercise" not in git("log", "--format=%s", folder=book)


@pytest.mark.parametrize("command", re.findall(r"^\$ python3 -m classroom (.+)$", GUIDE, re.MULTILINE))
def test_commands_of_the_guide_exist(command: str) -> None:
    assert callable(parser().parse_args(shlex.split(command)).run)
