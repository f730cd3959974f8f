"""Two outputs of a cell differ if nbval says so, and rules decide the kind of difference."""

from __future__ import annotations

import pytest
from nbformat import v4

from press.versions.outputs import Shown, differ, first_difference, kind, messages, shown
from press.versions.record import BEHAVIOUR, FOLLOWS, WARNING, WORDING

PRINTED = "RuntimeError: sizes do not fit (2x8 and 2x8)\n"


def cell(stdout: str = "", stderr: str = "", error: str = "", result: str = "") -> Shown:
    outputs = [
        v4.new_output("stream", name=n, text=text) for n, text in (("stdout", stdout), ("stderr", stderr)) if text
    ]
    if result:
        outputs.append(v4.new_output("execute_result", {"text/plain": result, "image/png": "x" + error}))
    if error:
        name, _, text = error.partition(": ")
        outputs.append(v4.new_output("error", ename=name, evalue=text))
    return shown(outputs)


def test_addresses_pictures_and_the_number_of_a_cell_make_no_difference() -> None:
    one = v4.new_output("execute_result", {"text/plain": "<at 0x7f0011223344>", "image/png": "a"}, execution_count=1)
    other = v4.new_output("execute_result", {"text/plain": "<at 0x7f55667788>", "image/png": "b"}, execution_count=9)
    assert not differ(shown([one]), shown([other]))


def test_paths_process_ids_and_times_make_no_difference() -> None:
    one = "W1123 12:19:44.992000 6359 /here/lib/site-packages/torch/x.py:183] No CUDA\n"
    other = "W1124 02:01:04.100000 12 /there/site-packages/torch/x.py:183] No CUDA\n"
    assert not differ(cell(stderr=one), cell(stderr=other))
    assert cell(stderr=one).lines() == ["…/site-packages/torch/x.py:183] No CUDA"]


def test_split_stream_equals_the_stream() -> None:
    parts = [v4.new_output("stream", name="stdout", text=text) for text in ("a\n", "b\n")]
    assert not differ(cell("a\nb\n"), shown(parts))


def test_warning_about_another_torch_is_no_difference() -> None:
    warning = "fxbook was tested with torch 2.13, but this is torch 2.15.0: outputs and messages may differ.\n"
    assert not differ(cell("a\n"), cell("a\n", stderr=warning))
    assert differ(cell("a\n"), cell("a\n", stderr=warning + "FutureWarning: x\n"))


def test_a_cell_whose_output_is_ignored_differs_only_if_it_raises() -> None:
    assert not differ(cell("1.0 s\n"), cell("2.0 s\n"), ignored=True)
    assert differ(cell("1.0 s\n"), cell(error="AssertionError: slow"), ignored=True)


@pytest.mark.parametrize(
    ("printed", "here", "lost", "expected"),
    [
        (cell(PRINTED), cell(PRINTED.replace("sizes", "the sizes", 1)), (), WORDING),
        (cell("a\n" + PRINTED), cell("b\n" + PRINTED.replace("sizes", "the sizes", 1)), (), BEHAVIOUR),
        (cell(PRINTED), cell("TypeError: mat1\n"), (), BEHAVIOUR),
        (cell("a\n"), cell("a\n", stderr="FutureWarning: x\n"), (), WARNING),
        (cell("a\n"), cell("b\n", stderr="FutureWarning: x\n"), (), BEHAVIOUR),
        (cell("1\n"), cell("2\n"), (), BEHAVIOUR),
        (cell(result="1"), cell(result="2"), (), BEHAVIOUR),
        (cell("1\n"), cell("1\n", result="1"), (), BEHAVIOUR),
        (cell(), cell(error="NameError: name 'inner' is not defined"), ("inner",), FOLLOWS),
        (cell(), cell(error="NameError: name 'inner' is not defined"), ("outer",), BEHAVIOUR),
        (cell(), cell(error="AssertionError: expected E with 'a' in its message, got E: b"), (), WORDING),
        (cell(), cell(error="AssertionError: expected E with 'a' in its message, got F: a"), (), BEHAVIOUR),
        (cell(), cell(error="AssertionError: expected D or E with 'a' in its message, got E: b"), (), WORDING),
        (
            cell(),
            cell(error="AssertionError: expected E with 'a' in its message, but nothing was raised"),
            (),
            BEHAVIOUR,
        ),
    ],
)
def test_rules_decide_the_kind(printed: Shown, here: Shown, lost: tuple[str, ...], expected: str) -> None:
    assert kind(printed, here, lost) == expected


def test_the_first_difference_is_a_pair_of_lines() -> None:
    assert first_difference(cell("a\nb\nc\n"), cell("a\nx\nc\n")) == ("b", "x")
    got = cell(error="AssertionError: expected E with 'a' in its message, got E: b\nmore")
    assert first_difference(cell("E: a\n"), got) == ("E: a", "E: b more")


def test_messages_come_from_torch_not_from_a_failing_cell() -> None:
    assert messages(cell("a\n" + PRINTED)) == [PRINTED.strip()]
    got = cell(error="AssertionError: expected ValueError with 'a' in its message, got ValueError: b\nmore")
    assert messages(got) == ["ValueError: b"]
    assert messages(cell(error="NameError: name 'x' is not defined")) == []
