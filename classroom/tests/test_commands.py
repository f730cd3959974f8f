"""``python -m classroom`` resumes a stopped run, reports errors, and prints help without loading torch."""

from __future__ import annotations

import csv
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from classroom import sandbox
from classroom.__main__ import main
from classroom.collect import submissions
from classroom.tests import students as class_
from classroom.tests.grade.parts import ASSIGNMENT, EXERCISES, graded_keys
from press import ROOT


def command(*arguments: object, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "classroom", *map(str, arguments)], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options,
    )  # fmt: skip


def descendants(process: int) -> set[int]:
    listing = Path(f"/proc/{process}/task/{process}/children")
    children = {int(child) for child in listing.read_text().split()} if listing.exists() else set()
    return children | {inner for child in children for inner in descendants(child)}


def is_alive(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> sandbox.Protection:
    """Pretend that this machine has no bubblewrap."""
    gone = sandbox.Protection(
        ("bubblewrap is not installed. Without it, a submission runs with your rights.",), "not installed"
    )
    monkeypatch.setattr(sandbox, "protection", lambda: gone)
    return gone


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_stopped_run_resumes(tmp_path: Path, number: signal.Signals) -> None:
    class_.make(tmp_path / "class", 12, EXERCISES, seed=1, system="plain")
    out = tmp_path / "marks"
    arguments = ("grade", tmp_path / "class", "--chapters", "02", "--out", out, "--workers", "2", "--trusted")
    # The path of a socket in here may have at most 100 characters.
    scratch = Path(tempfile.mkdtemp(prefix="fx"))
    with command(*arguments, start_new_session=True, env={**os.environ, "TMPDIR": str(scratch)}) as run:
        while len(graded_keys(out)) < 2 and run.poll() is None:
            time.sleep(0.05)
        children = descendants(run.pid)
        run.send_signal(number)
        output, _ = run.communicate()
    done = graded_keys(out)
    # A busy machine may finish grading before this process runs again.
    assert len(done) >= 2 and run.returncode in (0, 130 if number == signal.SIGINT else -number), output
    assert "Traceback" not in output and ("Stopped." in output) == (run.returncode == 130)
    while any(map(is_alive, children)):  # If a process hangs, the test's time limit stops this loop.
        time.sleep(0.1)
    assert not list(scratch.glob("fxbook-*")), "its files are left"
    shutil.rmtree(scratch)

    with command(*arguments) as run:
        output, _ = run.communicate()
    assert run.returncode == 0, output
    assert f"unchanged: {len(done)}." in output
    keys = graded_keys(out)
    assert len(keys) == len(set(keys)) == 12 and keys[: len(done)] == done
    with (out / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [(row["key"], row["exercise"]) for row in csv.DictReader(file)]
    assert len(rows) == len(set(rows)) == 12 * len(ASSIGNMENT.exercises)
    assert (out / "class.html").exists() and len(list(out.glob("students/*/report.html"))) == 12
    (out / "class.html").unlink()
    (out / "grades.csv").unlink()
    assert main(["report", str(out)]) == 0
    assert (out / "class.html").exists() and (out / "grades.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["grade", "nowhere", "--chapters", "02", "--out", "{}"], "There is no folder"),
        (["grade", ".", "--chapters", "77", "--out", "{}"], "--chapters: there is no chapter '77'"),
        (["grade", ".", "--assignment", "none.toml", "--out", "{}"], "none.toml: cannot be read as an assignment"),
        (["grade", ".", "--chapters", "02", "--out", "{}", "--book", "javascript:1"], "--book: "),
        (
            ["grade", ".", "--chapters", "02", "--out", "{}", "--dask", "192.0.2.1:8786"],
            "from other machines",
        ),
        (["grade", ".", "--chapters", "02", "--out", "{}", "--moodle", "none.csv"], "none.csv"),
        (["report", "{}"], "There is no gradebook.jsonl"),
    ],
)
@pytest.mark.usefixtures("no_sandbox")
def test_command_errors_are_reported(
    tmp_path: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([argument.format(tmp_path / "out") for argument in arguments]) == 2
    error = capsys.readouterr().err
    assert says in error and "bubblewrap" not in error


@pytest.mark.usefixtures("no_sandbox")
def test_hidden_variants_are_checked_before_grading(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class_.make(tmp_path / "class", 1, EXERCISES)
    (tmp_path / "week.toml").write_text('chapters = ["02"]\nhidden = "hidden.py"\n')
    for text, says in (
        ("1 / 0", "raises ZeroDivisionError"),
        ("SEEDS = -1", "SEEDS = -1"),
        ("CASES = 1", "is not a dict"),
        ("CASES = {'02-x': ()}", "There is no exercise '02-x'"),
        ("CASES = {'02-put-in-order': ()}", "a tuple of Case for each id"),
    ):
        (tmp_path / "hidden.py").write_text(text)
        arguments = ["grade", tmp_path / "class", "--assignment", tmp_path / "week.toml", "--out", tmp_path / "marks"]
        assert main(list(map(str, arguments))) == 2
        assert says in capsys.readouterr().err
    assert not (tmp_path / "marks").exists()


def test_nothing_is_opened_without_a_sandbox(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, no_sandbox: sandbox.Protection
) -> None:
    class_.make(tmp_path / "class", 1, EXERCISES)
    arguments = ["grade", str(tmp_path / "class"), "--chapters", "02", "--out", str(tmp_path / "marks")]
    with monkeypatch.context() as patched:
        patched.setattr(submissions, "look", lambda *_: pytest.fail("it looked at what students handed in"))
        assert main(arguments) == 2
    assert no_sandbox.missing[0] in capsys.readouterr().err and not (tmp_path / "marks").exists()
    assert main([*arguments, "--trusted", "--workers", "1"]) == 0
    assert "submissions run with your rights" in capsys.readouterr().out and (tmp_path / "marks/grades.csv").exists()


def test_help_needs_no_torch() -> None:
    code = "import sys; from classroom.__main__ import main\n"
    code += "for command in ('', 'release', 'grade', 'report', 'export', 'export nbgrader'):\n"
    code += "    try: main([*command.split(), '--help'])\n    except SystemExit as end: assert not end.code\n"
    code += "assert not {'torch', 'nbformat', 'dask'} & set(sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("usage: python -m classroom") == 6


WORKSHEET = (
    "Identifier,Full name,Status,Grade,Maximum Grade,Grade can be changed,Last modified (submission)\r\n"
    'Participant 1,Anna,Submitted for grading - ,,10.00,Yes,"Friday, 20 November 2026, 9:00 PM"\r\n'
    'Participant 2,Ben,Submitted for grading - ,,10.00,Yes,"Sunday, 22 November 2026, 9:00 AM"\r\n'
    "Participant 3,Carl,No submission - ,,10.00,Yes,-\r\n"
)


def test_moodle_class_round_trip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = {EXERCISES[0]: class_.solution(EXERCISES[0])}
    for name, answers in (("Anna_1", right), ("Ben_2", right)):
        home = tmp_path / "class" / f"{name}_assignsubmission_file_"
        home.mkdir(parents=True)
        for number, version in enumerate((answers, {})):
            (home / f"02_insertion_points-{number}.ipynb").write_bytes(
                class_.as_bytes(class_.notebook("02_insertion_points", version))
            )
    (tmp_path / "worksheet.csv").write_text(WORKSHEET, newline="")
    (tmp_path / "week.toml").write_text(
        f'exercises = ["{EXERCISES[0]}"]\ndue = 2026-11-20T23:59:00\n'
        f'[late]\nper_day = 0.1\n[points]\n"{EXERCISES[0]}" = 5\n'
    )
    out = tmp_path / "marks"
    arguments = ["grade", tmp_path / "class", "--assignment", tmp_path / "week.toml", "--out", out, "--trusted"]
    arguments += ["--workers", "1", "--moodle", tmp_path / "worksheet.csv"]
    assert main(list(map(str, arguments))) == 0
    output = capsys.readouterr().out
    assert "2 of 2 students. 5 points here are 10.00 on Moodle." in output
    filled = (out / "moodle/worksheet.csv").read_bytes().decode()
    before = WORKSHEET.replace('- ,,10.00,Yes,"Fri', '- ,10.00,10.00,Yes,"Fri')
    assert filled == before.replace('- ,,10.00,Yes,"Sun', '- ,8.00,10.00,Yes,"Sun')
    with (out / "totals.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert (rows["Ben"]["total"], rows["Ben"]["penalty"], rows["Ben"]["late_days"]) == ("4.0", "1.0", "2")
    report = (out / "students/ben-2/report.html").read_text(encoding="utf-8")
    assert "Counted: 02_insertion_points-0.ipynb, the first of 2 versions: the last in which it was begun." in report
    assert "2 days late; points deducted: 1." in report

    (tmp_path / "canvas.csv").write_text("Student,ID,SIS Login ID,Section,Essay (4)\nAnna,9,anna,FX,\n")
    again = ["report", str(out), "--canvas", str(tmp_path / "canvas.csv")]
    assert main(again) == 2 and "--canvas-column. It has “Essay (4)”" in capsys.readouterr().err
    assert main([*again, "--canvas-column", "Essay"]) == 0
    assert "Anna,9,anna,FX,5\n" in (out / "canvas/canvas.csv").read_text()
    assert "Ben (no row has this name)" in capsys.readouterr().out
