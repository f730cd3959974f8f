"""Dask workers give the same marks, strangers cannot connect, and a dead worker loses no student."""

from __future__ import annotations

import csv
import importlib
import itertools
import re
import shlex
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from classroom.tests import students as class_

pytest.importorskip("distributed", reason="Dask is not installed: pip install -r classroom/requirements.txt")

import dask.config
from dask.distributed import Client

from classroom.__main__ import main
from classroom.collect import submissions
from classroom.grade import grading
from classroom.grade.distributed import DaskWorkers, safe_address
from classroom.grade.grading import GradingError, graded
from classroom.tests.grade.clusters import Cluster, clusters
from classroom.tests.grade.parts import EXERCISES, UNSAFE, few, graded_keys, jobs
from classroom.tests.grade.stand_in import answers
from press import ROOT

GUIDE = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")


@pytest.fixture
def start_cluster(tmp_path: Path) -> Iterator[Callable[..., Cluster]]:
    yield from clusters(tmp_path)


def after(out: Path, students: int, act: Callable[[], None]) -> threading.Thread:
    """Act once this many students are graded into a folder."""

    def wait() -> None:
        while len(graded_keys(out)) < students:
            time.sleep(0.02)
        act()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_marks_equal_local_ones_though_a_worker_is_killed(tmp_path: Path, start_cluster) -> None:
    cluster = start_cluster(2, "--no-nanny")
    class_.make(tmp_path / "class", 12, EXERCISES, seed=2)
    assignment, out = few(), tmp_path / "marks"
    collected = submissions.find(tmp_path / "class", assignment)
    killer = after(out, 3, cluster.workers[1].kill)
    marks = grading.run(collected, assignment, out, DaskWorkers(cluster.address, trusted=UNSAFE), trusted=UNSAFE)
    killer.join()
    assert cluster.workers[1].wait() == -signal.SIGKILL
    rows = class_.rows(marks)
    assert len(rows) == 12 * len(EXERCISES)
    keys = graded_keys(tmp_path / "marks")
    assert len(keys) == len(set(keys)) == 12

    here = class_.rows(grading.run(collected, assignment, tmp_path / "here", trusted=UNSAFE))
    outcomes = {row: (mark.status, mark.rule, mark.points, mark.node) for row, mark in rows.items()}
    assert outcomes == {row: (mark.status, mark.rule, mark.points, mark.node) for row, mark in here.items()}
    assert {mark.status for mark in marks} >= {"passed", "failed"}


def test_killed_worker_costs_only_its_own_row(tmp_path: Path, start_cluster) -> None:
    address = start_cluster(2, "--death-timeout", "600").address
    batch = jobs(tmp_path, *("fine",) * 5, "kills", *("fine",) * 5, "raises")
    results: dict[str, Any] = {}
    for job, result in graded(batch, DaskWorkers(address, trusted=True), answers):
        assert job.submission.key not in results, "a row is there twice"
        results[job.submission.key] = result
    assert len(results) == len(batch)
    by_name = {job.submission.student.partition("|")[0]: results[job.submission.key] for job in batch}
    assert by_name["kills"] == "its worker process ended 2 times while it was graded"
    assert by_name["raises"] == "ValueError: told"
    assert sum(isinstance(result, list) for result in results.values()) == 10


def test_cluster_errors_are_reported(tmp_path: Path, start_cluster, capsys, monkeypatch) -> None:
    class_.make(tmp_path / "class", 1, EXERCISES)
    arguments = ["grade", str(tmp_path / "class"), "--chapters", "02", "--out", str(tmp_path / "marks"), "--dask"]
    with monkeypatch.context() as hasty:
        hasty.setattr("classroom.grade.distributed._WAIT_SECONDS", 0.5)
        assert main([*arguments, "tcp://127.0.0.1:1"]) == 2
    assert "No Dask scheduler answers at tcp://127.0.0.1:1" in capsys.readouterr().err
    # The scheduler is running, however slowly it answers; a worker never appears.
    wait = Client.wait_for_workers
    monkeypatch.setattr(Client, "wait_for_workers", lambda self, count, timeout: wait(self, count, timeout=0.1))
    monkeypatch.setattr("classroom.grade.distributed._WAIT_SECONDS", 600)
    assert main([*arguments, start_cluster(0).address]) == 2
    assert "has no worker" in capsys.readouterr().err


def test_unsuitable_workers_get_no_work(start_cluster, monkeypatch) -> None:
    address = start_cluster(1, "--no-nanny").address
    with monkeypatch.context() as newer:
        newer.setattr("classroom.grade.distributed.code_digest", lambda: "newer than theirs")
        with pytest.raises(GradingError, match="has a different version of the book or of torch from yours"):
            DaskWorkers(address, trusted=True)
    monkeypatch.setattr(Client, "scheduler_info", lambda *_, **__: {"workers": {"tcp://192.0.2.7:40000": {}}})
    monkeypatch.setattr(Client, "run", lambda *_, **__: pytest.fail("it was sent something"))
    with pytest.raises(GradingError, match=r"192\.0\.2\.7:40000 is reachable from other machines"):
        DaskWorkers(address, trusted=True)


# ---- addresses -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("tcp://127.0.0.1:8786", "tcp://127.0.0.1:8786"),
        ("127.8.9.10:1234", "tcp://127.8.9.10:1234"),
        ("tcp://[::1]", "tcp://[::1]:8786"),
        ("tls://grader.lan", "tls://grader.lan:8786"),
    ],
)
def test_loopback_and_tls_addresses_are_accepted(given: str, taken: str) -> None:
    assert safe_address(given) == taken


def test_host_names_are_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    stands_for = {"localhost": ["127.0.0.1", "::1"], "grader.lan": ["127.0.0.1", "192.0.2.1"], "nobody.lan": []}

    def look_up(host: str, port: int, **_: Any) -> list[Any]:
        return [(None, None, 0, "", (ip, port)) for ip in stands_for[host]]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    assert safe_address("localhost:1") == "tcp://127.0.0.1:1"
    for name in ("grader.lan", "nobody.lan"):
        with pytest.raises(GradingError, match="is reachable from other machines"):
            safe_address(f"tcp://{name}:8786")


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("tcp://192.0.2.1:8786", "SSH tunnel"),
        ("192.0.2.1:8786", "SSH tunnel"),
        ("tcp://0.0.0.0:8786", "SSH tunnel"),
        ("tcp://[2001:db8::1]:8786", "SSH tunnel"),
        ("tcp://127.0.0.1:8786@192.0.2.1", "is not an address for --dask"),
        ("tcp://127.0.0.1:8786/x", "is not an address for --dask"),
        ("tcp://127.0.0.1:many", "is not an address for --dask"),
        ("tcp://:8786", "is not an address for --dask"),
        ("ws://127.0.0.1:8786", "is not an address for --dask"),
        ("ucx://127.0.0.1:8786", "is not an address for --dask"),
        ("inproc://127.0.0.1/1/1", "is not an address for --dask"),
        ("", "is not an address for --dask"),
        ("tls://192.0.2.1:8786", "needs certificates"),
    ],
)
def test_public_addresses_are_refused(tmp_path: Path, capsys, monkeypatch, address: str, says: str) -> None:
    monkeypatch.setattr("dask.distributed.Client", lambda *_, **__: pytest.fail("it connects"))
    arguments = ["grade", str(tmp_path), "--chapters", "02", "--out", str(tmp_path / "marks"), f"--dask={address}"]
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert says in error and "Traceback" not in error and len(error.strip().splitlines()) == 1


# ---- what the guide says ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", re.findall(r"^\$ \.venv/bin/(dask .*)$", GUIDE, re.MULTILINE))
def test_commands_of_the_guide_are_safe(command: str) -> None:
    _, kind, *arguments = shlex.split(command)
    options = dict(itertools.pairwise(arguments))
    parameters = importlib.import_module(f"distributed.cli.dask_{kind}").main.params
    assert {name for name in arguments if name.startswith("--")} <= {
        name for parameter in parameters for name in parameter.opts
    }
    assert options["--dashboard-address"].startswith("127.0.0.1:")
    tls = options.get("--protocol") == "tls" or arguments[0].startswith("tls://")
    assert tls or options.get("--host") == "127.0.0.1"


@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl: apt install openssl")
def test_certificates_of_the_guide_work(tmp_path: Path, start_cluster, capsys, monkeypatch) -> None:
    (tmp_path / "class").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    commands = re.findall(r"^\$ (mkdir -m 700 .*|openssl .*)$", GUIDE, re.MULTILINE)
    subprocess.run(["sh", "-ec", "\n".join(commands)], check=True, capture_output=True)
    [text] = re.findall(r"^```yaml\n(# ~/.config/dask/.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    text = text.replace("/home/teacher", str(tmp_path))
    (tmp_path / "dask").mkdir()
    (tmp_path / "dask" / "distributed.yaml").write_text(text)
    monkeypatch.setenv("DASK_CONFIG", str(tmp_path / "dask"))
    class_.make(tmp_path / "class" / "week2", 2, ["02-put-in-order"])
    with dask.config.set(dask.config.merge(dask.config.config, yaml.safe_load(text))):
        address = start_cluster(1, protocol="tls").address
        arguments = ["grade", str(tmp_path / "class" / "week2"), "--chapters", "02"]
        arguments += ["--out", str(tmp_path / "marks"), "--dask", address, *["--trusted"] * UNSAFE]
        assert address.startswith("tls://") and main(arguments) == 0, capsys.readouterr().err
    with (tmp_path / "marks" / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        statuses = [row["status"] for row in csv.DictReader(file)]
    assert len(statuses) == 12 and set(statuses) >= {"missing"} and "error" not in statuses
