"""The sandbox observes what a notebook would; it has part of the library and is isolated from everything else."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from classroom.sandbox import Limits, Sandbox, SandboxError, bubble, calls, groups, observer_package, protection
from classroom.sandbox.contents import READING
from classroom.tests.sandbox.harm import processes_below
from classroom.tests.sandbox.sandboxing import (
    ANSWER,
    EXERCISE,
    RIGHT,
    brief,
    is_right,
    need_bubblewrap,
    sheet_of,
    warm,
)
from classroom.tests.sandbox.sandboxing import sandbox as sandboxed
from fxbook import tasks
from fxbook.catalogue import catalogue
from fxbook.learning import sheets
from fxbook.observing import forked
from fxbook.observing.forked import Outcome
from fxbook.observing.prepare import prepare
from press import ROOT

ABOUT = list(catalogue().values())
SEED = 7


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    yield from sandboxed(Limits())


# ---- the same inside and outside -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def solutions() -> dict[str, sheets.Sheet]:
    return {path.stem: sheets.read(path) for path in (ROOT / "solutions").glob("*.ipynb")}


@pytest.mark.parametrize("about", ABOUT, ids=lambda about: about.id)
def test_sandbox_observes_like_a_notebook(sandbox: Sandbox, solutions: dict[str, sheets.Sheet], about: Any) -> None:
    sheet, exercise = solutions[about.chapter], tasks.find(about.id)
    assert exercise

    def whole() -> Any:
        return sheets.observe_answer(sheet, prepare(exercise, SEED, rebuildable=True), about.answer)

    inside = sandbox.observe(sheet, about.id, about.answer, SEED)
    assert inside.data and inside.data["observation"]
    assert inside.data == forked.run_in_child(whole, 600).data


TOOLS = {
    "profiler": "with torch.profiler.profile() as found:\n    model(x)\nassert found.key_averages()",
    "export": "torch.export.export(model, (x,)).module()(x)",
    "compile": "torch.compile(model, backend='eager')(x)",
    "make_fx": "from torch.fx.experimental.proxy_tensor import make_fx\nmake_fx(model)(x)",
    "backward": "model(x).sum().backward()",
    "script": "torch.jit.trace(model, x)",
    "threads": "from concurrent.futures import ThreadPoolExecutor as Pool\nassert sum(Pool(4).map(abs, (-1, -2))) == 3",
    "asyncio": "import asyncio\nassert asyncio.run(asyncio.sleep(0, 3)) == 3",
    "files": "import io, os, tempfile\nwith tempfile.TemporaryFile() as file:\n    torch.save(model, file)",
    "plots": "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.gcf().savefig('plot.png')",
}


@pytest.mark.parametrize("tool", TOOLS)
def test_tools_work_inside(sandbox: Sandbox, tool: str) -> None:
    model = (
        "import torch\nfrom torch import nn\nx = torch.randn(3, 4)\nmodel = nn.Sequential(nn.Linear(4, 4), nn.ReLU())"
    )
    outcome = sandbox.observe(sheet_of(model, TOOLS[tool], RIGHT), EXERCISE, ANSWER, 1)
    assert is_right(outcome) and outcome.data["failed"] == []


def test_missing_answer_gives_no_observation(sandbox: Sandbox) -> None:
    for sheet in (sheet_of("x = 1"), sheet_of()):
        assert sandbox.observe(sheet, EXERCISE, ANSWER, 1).data == {"failed": [], "observation": None}


def test_cells_may_check_draw_and_raise(sandbox: Sandbox) -> None:
    first = "import torch\nfrom torch import fx\nfrom fxbook import RunStepper, check, draw, hint"
    first += "\nfrom fxbook.plotting import heat"
    asks = f"report = check('{EXERCISE}', None)\nhint('{EXERCISE}')\ndraw(fx.symbolic_trace(torch.nn.ReLU()))"
    outcome = sandbox.observe(sheet_of(first, asks, "1 / 0", RIGHT), EXERCISE, ANSWER, 1)
    assert is_right(outcome)
    assert outcome.data["failed"] == [
        {"cell": 3, "type": "ZeroDivisionError", "message": "division by zero", "line": "1 / 0"}
    ]


def test_shell_lines_are_not_run(sandbox: Sandbox, tmp_path: Path) -> None:
    trace = tmp_path / "by-an-attack"
    cells = (f"%%bash\ntouch {trace}", f"!touch {trace}", f"get_ipython().system('touch {trace}')", RIGHT)
    assert is_right(sandbox.observe(sheet_of(*cells), EXERCISE, ANSWER, 1))
    assert not trace.exists()


# ---- hidden variants -------------------------------------------------------------------------------------------------

HIDDEN = """
import importlib
from torch import nn
import torch
from fxbook.cases import Case

Dense = importlib.import_module("fxbook.tasks.00_first_graph.cases").Dense
SECRET = "for another exercise"

def wide():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))

def other():
    raise ValueError(SECRET)

CASES = {
    "00-layers-in-order": (Case("hidden", wide, lambda: (torch.randn(2, 4),)), Case("dense", Dense, tuple)),
    "00-readers": (Case(SECRET, other, tuple),),
}
"""


def test_hidden_cases_replace_public_ones(sandbox: Sandbox) -> None:
    lists = "def layers_in_order(model):\n    return [type(part).__name__ for part in model.children()]"
    outcome = sandbox.observe(sheet_of(lists), "00-layers-in-order", "layers_in_order", 1, HIDDEN)
    values = [case["value"] for case in outcome.data["observation"]["cases"]]
    assert ["Linear", "ReLU", "Linear"] in values and len(values) == 2


def test_only_cases_of_the_exercise_enter() -> None:
    text = observer_package.hidden_for(HIDDEN, "00-layers-in-order")
    assert "hidden" in text and "another exercise" not in text and "00-readers" not in text and "other" not in text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("CASES = {", "not Python"),
        ("SEEDS = 3", "has no CASES"),
        ("CASES = {'00-readers': ()}", "a tuple of Case"),
        ("CASES = {'09-compare-in-pairs': (3,)}", "a tuple of Case"),
        ("CASES = {'09-compare-in-pairs': nothing}", "NameError"),
        (
            "from fxbook.cases import Case\nCASES = {'09-compare-in-pairs': (Case('bad', lambda: 1 / 0, tuple),)}",
            "cannot be used: ZeroDivisionError",
        ),
        ("from fxbook.cases import predicates\nCASES = {'09-compare-in-pairs': predicates.lints}", "ImportError"),
    ],
)
def test_bad_hidden_variants_raise_an_error(sandbox: Sandbox, text: str, says: str) -> None:
    with pytest.raises(SandboxError, match=says):
        sandbox.observe(sheet_of(RIGHT), EXERCISE, ANSWER, 1, text)
    assert is_right(sandbox.observe(sheet_of(RIGHT), EXERCISE, ANSWER, 1))


# ---- robustness ------------------------------------------------------------------------------------------------------


def test_early_result_is_not_lost(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    send = forked.send

    def send_and_wait(descriptor: int, data: Any, mark: bytes) -> None:
        working = processes_below(warm(sandbox, READING))
        send(descriptor, data, mark)
        # The task, which comes first, is None here. The reading process ends once it has the file.
        while data and working <= processes_below(warm(sandbox, READING)):
            time.sleep(0.01)

    monkeypatch.setattr(forked, "send", send_and_wait)
    for _ in range(3):
        assert sandbox.read_sheet("x.ipynb", b"", {}).data["reason"] == "it is empty"


def test_warm_process_is_restarted(sandbox: Sandbox) -> None:
    assert is_right(sandbox.observe(sheet_of(RIGHT), EXERCISE, ANSWER, 1))
    for process in sorted(processes_below(warm(sandbox)), reverse=True):
        os.kill(process, signal.SIGKILL)
    assert is_right(sandbox.observe(sheet_of(RIGHT), EXERCISE, ANSWER, 1))


def test_threads_take_turns(sandbox: Sandbox) -> None:
    right: list[bool] = []

    def ask() -> None:
        right.append(is_right(sandbox.observe(sheet_of(RIGHT), EXERCISE, ANSWER, 1)))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 4


@pytest.fixture
def anew() -> Iterator[None]:
    """Reset the cached result of `protection` before and after the test."""
    protection.cache_clear()
    yield
    protection.cache_clear()


def no_bubblewrap(patch: pytest.MonkeyPatch, folder: Path) -> None:
    patch.setenv("PATH", str(folder))


def a_bubblewrap_that_is_refused(patch: pytest.MonkeyPatch, folder: Path) -> None:
    (folder / "bwrap").write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    (folder / "bwrap").chmod(0o755)
    patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def no_libseccomp(patch: pytest.MonkeyPatch, _: Path) -> None:
    need_bubblewrap()

    def missing() -> bytes:
        raise calls.NoFilterError("libseccomp is not installed: `apt install libseccomp2` on Debian and Ubuntu")

    patch.setattr(calls, "program", missing)


def too_few_open_files(patch: pytest.MonkeyPatch, _: Path) -> None:
    need_bubblewrap()
    patch.setattr(bubble, "_raise_open_files", lambda: 256)


def packages_that_submissions_cannot_read(patch: pytest.MonkeyPatch, folder: Path) -> None:
    need_bubblewrap()
    if os.geteuid():
        pytest.skip("an ordinary user's submissions read what the user may")
    (folder / "torch").mkdir()
    (folder / "torch" / "__init__.py").touch(mode=0o600)
    packages = bubble._search_path()
    patch.setattr(bubble, "_search_path", lambda: [*packages, str(folder)])


@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize(
    ("lacks", "says"),
    [
        (no_bubblewrap, r"apt install bubblewrap.*--trusted"),
        (a_bubblewrap_that_is_refused, "No permissions to create new namespace"),
        (no_libseccomp, "apt install libseccomp2"),
        (too_few_open_files, "`ulimit -Hn` allows only 256"),
        (packages_that_submissions_cannot_read, r"chmod -R o\+rX .*torch"),
    ],
)
def test_missing_requirement_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lacks: Any, says: str
) -> None:
    lacks(monkeypatch, tmp_path)
    protection.cache_clear()
    with pytest.raises(SandboxError, match=says):
        Sandbox()
    if lacks is no_bubblewrap:
        assert "can read your files" in protection().missing[0]


def test_a_room_starts_under_a_low_soft_limit_of_open_files() -> None:
    need_bubblewrap()
    import resource  # As in bubble.py.

    old = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, old[1]))
    try:
        files = {f"inside/{number}.py": "" for number in range(200)}
        with Path(os.devnull).open("wb") as nowhere:
            assert bubble.start(files, "pass", stdout=nowhere, stderr=nowhere).wait() == 0
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, old)


@pytest.mark.usefixtures("anew")
def test_missing_control_groups_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    need_bubblewrap()
    monkeypatch.setattr(groups, "is_available", lambda: False)
    protection.cache_clear()
    assert not protection().refusal
    assert any("not for both together" in what for what in protection().missing)


def test_trusted_submissions_need_no_bubblewrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_: None)
    with Sandbox(trusted=True) as trusted:
        assert is_right(trusted.observe(sheet_of(RIGHT), EXERCISE, ANSWER, 1))
        with pytest.raises(SandboxError, match="a tuple of Case"):
            trusted.observe(sheet_of(RIGHT), EXERCISE, ANSWER, 1, "CASES = {}")


_ENDLESS = ("while True: pass", "10 ** 10**9", "import time\ntime.sleep(3600)")


def test_endless_code_is_ended_with_and_without_sandbox(sandbox: Sandbox) -> None:
    loops = f"def {ANSWER}(*_):\n    while True: pass"
    with Sandbox(trusted=True) as trusted:
        for place in (sandbox, trusted):
            with brief(place):
                for cell in _ENDLESS:
                    assert place.observe(sheet_of(cell, RIGHT), EXERCISE, ANSWER, 1) == Outcome(None, "time")
                error = place.observe(sheet_of(loops), EXERCISE, ANSWER, 1).data["observation"]["error"]
            assert (error["type"], error["line"]) == ("TimeUp", "while True: pass")
            assert is_right(place.observe(sheet_of(RIGHT), EXERCISE, ANSWER, 1))


def test_installed_library_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """A book installed among Python's packages, which the sandbox shows, is hidden there."""
    packages = Path(bubble._search_path()[-1])
    monkeypatch.setattr(bubble, "_own_folders", lambda: {packages / "fxbook"})
    options = bubble._python(bubble._shown())
    shows, hides = options.index(str(packages.parents[1])), options.index(str(packages / "fxbook"))
    assert shows < hides and options[hides - 1] == "--tmpfs"


def test_closed_sandbox_leaves_no_process(sandbox: Sandbox) -> None:
    processes = processes_below(warm(sandbox))
    assert len(processes) > 1
    sandbox.close()
    while any(Path(f"/proc/{process}").exists() for process in processes):
        time.sleep(0.02)


# ---- common limits of a bubble ---------------------------------------------------------------------------------------


def test_room_is_in_a_control_group(sandbox: Sandbox) -> None:
    if not groups.is_available():
        pytest.skip("this machine makes no control groups")
    assert is_right(sandbox.observe(sheet_of(RIGHT), EXERCISE, ANSWER, 1))
    assert "fxbook-" in Path(f"/proc/{warm(sandbox)}/cgroup").read_text()


def test_control_group_limits_resources() -> None:
    if not groups.is_available():
        pytest.skip("this machine makes no control groups")
    group = groups.Group(64 << 20, 8)
    takes = "held = bytearray(1 << 28)\nfor at in range(0, 1 << 28, 4096):\n    held[at] = 1"
    forks = "import os\nfor _ in range(20):\n    if os.fork() == 0:\n        os._exit(0)"
    try:
        for program, fine in (("pass", True), (takes, False), (forks, False)):
            ended = subprocess.run(group.around([sys.executable, "-c", program]), capture_output=True).returncode
            assert (ended == 0) == fine, program
    finally:
        folders = list(group._folders)
        group.close()
    assert not any(folder.exists() for folder in folders)


@pytest.mark.parametrize("given", ["cpu memory pids", "cpu"])
def test_cgroup_v2_is_created_through_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: str) -> None:
    monkeypatch.setattr(groups, "_ROOT", tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    (tmp_path / "cgroup.controllers").touch()
    (tmp_path / "cgroup.subtree_control").write_text(given)
    group = groups.Group(1 << 30, 80)
    assert group.is_there == ("memory" in given)
    if group.is_there:
        [folder] = group._folders
        limits = {file.name: file.read_text() for file in folder.iterdir()}
        assert limits == {"memory.max": str(1 << 30), "memory.swap.max": "0", "pids.max": "80"}
        assert group.around(["true"])[-2:] == ["--", "true"]


def test_ordinary_user_gets_a_systemd_scope(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Uses a stand-in that gets the arguments of systemd-run(1) and runs the command."""
    log = tmp_path / "asked"
    (tmp_path / "systemd-run").write_text(
        f'#!/bin/sh\necho "$@" >> {log}\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n'
    )
    (tmp_path / "systemd-run").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    groups._by_systemd.cache_clear()
    try:
        group = groups.Group(1 << 30, 80)
        assert subprocess.run(group.around(["true"])).returncode == 0
        assert f"--property=MemoryMax={1 << 30}" in log.read_text() and "TasksMax=80" in log.read_text()
    finally:
        groups._by_systemd.cache_clear()
