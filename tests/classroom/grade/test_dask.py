"""On the workers of Dask a class gets the same marks; a worker that dies costs nobody a row and nobody has two."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.classroom import students as class_

pytest.importorskip("distributed", reason="Dask is not installed: pip install -r classroom/requirements.txt")

from dask.distributed import Client

from classroom.__main__ import main
from classroom.collect import submissions
from classroom.grade import grading
from classroom.grade.cluster.distributed import DaskWorkers
from classroom.grade.gradebook import Gradebook
from classroom.grade.grading import GradingError, graded
from tests.classroom.grade.clusters import Cluster, clusters
from tests.classroom.grade.parts import EXERCISES, UNSAFE, few, graded_keys, jobs
from tests.classroom.grade.stand_in import answers


@pytest.fixture
def start_cluster(tmp_path: Path) -> Iterator[Callable[..., Cluster]]:
    yield from clusters(tmp_path)


def after(out: Path, students: int, act: Callable[[], None]) -> threading.Thread:
    """Do something once so many students are graded into a folder."""

    def wait() -> None:
        while len(graded_keys(out)) < students:
            time.sleep(0.02)
        act()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_a_worker_that_is_killed_costs_nobody_a_row(tmp_path: Path, start_cluster) -> None:
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


def test_a_submission_that_kills_its_worker_costs_only_its_own_row(tmp_path: Path, start_cluster) -> None:
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


def test_a_scheduler_that_ends_is_told_and_what_is_done_is_kept(tmp_path: Path, start_cluster, monkeypatch) -> None:
    cluster = start_cluster(1, "--no-nanny")
    class_.make(tmp_path / "class", 8, EXERCISES)
    assignment, out = few(), tmp_path / "marks"
    collected = submissions.find(tmp_path / "class", assignment)
    workers, keep = DaskWorkers(cluster.address, trusted=True), Gradebook.keep

    def keep_and_end(*row: Any) -> None:
        keep(*row)
        cluster.scheduler.kill()
        cluster.scheduler.wait()

    # With the first student: half of the others are not handed over by then.
    monkeypatch.setattr(Gradebook, "keep", keep_and_end)
    with pytest.raises(GradingError, match="The workers are gone"):
        grading.run(collected, assignment, out, workers, trusted=True)
    assert 1 <= len(graded_keys(out)) < 8


def test_what_is_wrong_with_a_cluster_is_told(tmp_path: Path, start_cluster, capsys, monkeypatch) -> None:
    class_.make(tmp_path / "class", 1, EXERCISES)
    arguments = ["grade", str(tmp_path / "class"), "--chapters", "02", "--out", str(tmp_path / "marks"), "--dask"]
    with monkeypatch.context() as hasty:
        hasty.setattr("classroom.grade.cluster.distributed._WAIT_SECONDS", 0.5)
        assert main([*arguments, "tcp://127.0.0.1:1"]) == 2
    assert "No scheduler of Dask answers at tcp://127.0.0.1:1" in capsys.readouterr().err
    # The scheduler is there, however long it takes to answer; a worker there never is.
    wait = Client.wait_for_workers
    monkeypatch.setattr(Client, "wait_for_workers", lambda self, count, timeout: wait(self, count, timeout=0.1))
    monkeypatch.setattr("classroom.grade.cluster.distributed._WAIT_SECONDS", 600)
    assert main([*arguments, start_cluster(0).address]) == 2
    assert "has no worker" in capsys.readouterr().err
