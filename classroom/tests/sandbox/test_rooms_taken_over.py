"""An attacker who takes over the judging or reading process reaches neither the machine nor the next submission."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from classroom.assignment import of_chapters
from classroom.collect.reading import read_sheet
from classroom.grade.records import Submission
from classroom.sandbox import Limits, Sandbox
from classroom.sandbox.contents import JUDGING, READING
from classroom.tests.sandbox import forging, taking_over
from classroom.tests.sandbox.harm import READ, Bait, Watch
from classroom.tests.sandbox.sandboxing import Attack, attacks, brief

# One attack of each kind.
_KINDS = """
    crash_with_a_dump doors_to_the_kernel fork_bomb gain_rights kill_everything leave_things_behind
    local_sockets memory_bomb network new_namespaces read_other_submissions read_the_grader search_all_memory
    stop_itself trace_others use_open_descriptors write_outside
"""
ALL = [*taking_over.attacks(), *(attack for attack in attacks() if attack.name in _KINDS.split())]


@pytest.fixture(scope="module")
def sandbox(bait: Bait) -> Iterator[Sandbox]:
    with taking_over.taken_over(Limits()) as sandbox:
        taking_over.warmed(sandbox, bait)
        yield sandbox


@pytest.fixture(scope="module")
def watch(bait: Bait, sandbox: Sandbox) -> Watch:
    truth = forging.truth(taking_over.EXERCISE)
    return Watch(bait, lambda: taking_over.suffering(sandbox, truth))


def test_attack_in_a_room_runs_and_reports(watch: Watch, sandbox: Sandbox, bait: Bait) -> None:
    """Otherwise, finding nothing would prove nothing."""
    for room in (JUDGING, READING):
        finds = Attack("finds", "def paired(*_):\n    return ['classroom']")
        (line,) = watch.harms(taking_over.tried(sandbox, bait, finds, room))
        assert line == f"{READ}: in {room} it answers ['classroom']"


def test_output_of_a_taken_over_reader_is_limited(sandbox: Sandbox) -> None:
    assignment = of_chapters(["02"])
    [chapter] = assignment.chapters
    for answer, length in (("'x' * 9_000_000", 1000), ("os._exit(0)", 100)):
        source = f"{taking_over.MARK}\nimport os\ndef paired(*_): return {answer}".encode()
        read = read_sheet(Submission("a", "A", {chapter: source}, {chapter: "x.py"}), assignment, chapter, sandbox)
        assert read.sheet is None and 0 < len(read.problem) <= length


@pytest.mark.parametrize("room", [JUDGING, READING])
@pytest.mark.parametrize("attack", ALL, ids=lambda attack: attack.name)
def test_code_in_a_room_does_no_harm(watch: Watch, sandbox: Sandbox, bait: Bait, attack: Attack, room: str) -> None:
    with brief(sandbox):
        came = taking_over.tried(sandbox, bait, attack, room)
    assert watch.harms(came) == []
