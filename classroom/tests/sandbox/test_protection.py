"""Each row of the guide's table of what protects a teacher is held by attacks, and each attack holds a row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from press import ROOT

GUIDE = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
ATTACKS = Path(__file__).parent / "attacks"
NAMES = {folder.name: {path.stem for path in folder.glob("*.py")} for folder in ATTACKS.iterdir() if folder.is_dir()}
# By what the first cell of a row begins with: folders of attacks, attacks, or files of tests.
HELD_BY = {
    "read or change your files": """
        read_other_submissions read_the_checks read_the_grader read_what_was_before look_for_what_was_left
        search_all_memory
        use_open_descriptors links_out_of_the_folder write_outside dump_its_memory modules_of_its_own taken_over""",
    "use the network": "network_tcp network_udp local_sockets",
    "start a program or a process": """
        start_a_program fork_bomb raw_clone new_namespaces gain_rights trace_others old_system_calls doors_to_the_kernel
        kill_everything""",
    "use up the time": """
        busy_in_threads sleep_for_ever stuck_in_c recurse_in_c endless_loop_in_a_cell endless_loop_that_catches_all
        ignore_signals stop_itself thread_bomb memory_bomb memory_bomb_of_tensors memory_behind_descriptors
        fill_one_file fill_the_disk huge_graph huge_message huge_output huge_result message_that_never_ends
        flood_the_channel test_grading""",
    "leave anything behind": "leave_in_the_answer leave_the_process leave_things_behind crash_in_c exit_politely",
    "earn a mark": """
        forge_broken_json forge_deep_json forge_half_a_frame forge_much_json forge_numbers_json forge_other_json
        forge_wide_json forge_with_a_guess forge_with_the_mark close_the_channel close_the_channel_and_stay
        patch_everything patch_the_library objects_that_lie test_cheats test_expected_values""",
    "harm the grader by a graph": "judging taken_over test_opened_list",
    "harm the grader by a file": "reading taken_over",
    "harm your browser": "strange_text test_in_browser test_gradebook",
}


def rows() -> list[str]:
    table = GUIDE.partition("| a submission cannot | because |\n|---|---|\n")[2].partition("\n\n")[0]
    return [re.split(r" \| ", line.strip("| "))[0] for line in table.splitlines()]


def test_each_row_is_held_and_each_hold_is_a_row() -> None:
    begun = [next((start for start in HELD_BY if row.startswith(start)), row) for row in rows()]
    assert begun == list(HELD_BY)


@pytest.mark.parametrize("row", HELD_BY)
def test_what_holds_a_row_is_there(row: str) -> None:
    files = (path for folder in ("tests", "classroom/tests") for path in (ROOT / folder).rglob("test_*.py"))
    known = {*NAMES, *set().union(*NAMES.values()), *(path.stem for path in files)}
    assert HELD_BY[row].split() and set(HELD_BY[row].split()) <= known


def test_each_attack_holds_a_row() -> None:
    holders = {word for words in HELD_BY.values() for word in words.split()}
    alone = {name for folder, names in NAMES.items() if folder not in holders for name in names - holders}
    assert not alone


def test_the_number_of_attacks_is_no_more_than_there_are() -> None:
    [number] = re.findall(r"held by attacks, some (.+?) small programs and files", GUIDE)
    known = {"hundred": 100, "hundred and fifty": 150, "two hundred": 200}
    assert known[number] <= sum(map(len, NAMES.values()))
