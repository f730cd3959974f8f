"""Attacks back each row of the guide's table *What protects you*, and each attack backs a row."""

from __future__ import annotations

import re

import pytest

from classroom.tests.sandbox import forging, taking_over
from classroom.tests.sandbox.sandboxing import ATTACKS, cells
from classroom.tests.sandbox.test_reading_attacks import ALL as READING
from press import ROOT

GUIDE = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
OBSERVING = {name for file in (ATTACKS / "observing").glob("*.py") for name, *_ in cells(file)}
# Attacks on the other rooms, which back a row together.
TOGETHER = {
    "judging": {forgery.name for forgery in forging.forgeries()},
    "reading": set(READING),
    "taken_over": {name for name, *_ in cells(taking_over.TAKEN_OVER)},
}
# By the beginning of a row: attacks, attacks on a room, or test files.
HELD_BY = {
    "read or change your files": """
        read_other_submissions read_the_checks read_the_grader look_for_what_was_left search_all_memory
        use_open_descriptors write_outside crash_with_a_dump modules_of_its_own taken_over""",
    "use the network": "network local_sockets",
    "start a program or a process": """
        start_a_program fork_bomb new_namespaces gain_rights trace_others old_system_calls doors_to_the_kernel
        kill_everything""",
    "use up the time": """
        busy_in_threads ignore_signals stop_itself thread_bomb memory_bomb memory_behind_descriptors fill_the_disk
        huge_output huge_result flood_the_channel test_grading""",
    "leave anything behind": "leave_in_the_answer leave_things_behind",
    "earn a mark": """
        forge_json forge_half_a_frame forge_with_the_mark close_the_channel_and_stay patch_the_library
        objects_that_lie test_cheats test_exercises""",
    "harm the grader with a graph": "judging taken_over test_rebuild test_rebuild_lies",
    "harm the grader with a file": "reading taken_over test_reading test_submission_files",
    "harm your browser": "strange_text test_in_browser test_gradebook",
}
HOLDERS = [word for words in HELD_BY.values() for word in words.split()]


def test_table_rows_match() -> None:
    table = GUIDE.partition("| a submission cannot | because |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = [re.split(r" \| ", line.strip("| "))[0] for line in table.splitlines()]
    assert [next((start for start in HELD_BY if row.startswith(start)), row) for row in rows] == list(HELD_BY)


@pytest.mark.parametrize("row", HELD_BY)
def test_evidence_for_a_row_exists(row: str) -> None:
    files = (path for folder in ("tests", "classroom/tests") for path in (ROOT / folder).rglob("test_*.py"))
    assert set(HELD_BY[row].split()) <= {*OBSERVING, *TOGETHER, *(path.stem for path in files)}


def test_each_attack_backs_a_row() -> None:
    assert {*OBSERVING, *TOGETHER} <= set(HOLDERS)
