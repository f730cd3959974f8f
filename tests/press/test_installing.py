"""Set-up reports pip's progress, whatever pip prints, and names no registry."""

from __future__ import annotations

import queue
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from press.binding.installing import Heartbeat, PipProgress, install

TORCH = "torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl"
# Output from pip 23.2; the second part is from an index with separate metadata.
READ = f"""\
Looking in indexes: https://reader:secret@host.example/simple
Ignoring colorama: markers 'sys_platform == "win32"' don't match your environment
WARNING: Location 'https://host.example/simple/torch/' is ignored: it is neither a file nor a directory.
Collecting filelock==4.3.1 (from -r requirements.txt (line 3))
  Using cached filelock-4.3.1-py3-none-any.whl (24 kB)
Collecting torch==2.13.0 (from -r requirements.txt (line 590))
  Downloading {TORCH} (191.8 MB)
"""
# Print the first argument, then stay silent like pip during a large download: until a file exists, within a time limit.
SILENT = """\
import sys, time
from pathlib import Path

print(sys.argv[1], flush=True)
for _ in range(6000):
    if Path(sys.argv[2]).exists():
        sys.exit(int(sys.argv[3]))
    time.sleep(0.01)
"""


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> queue.Queue[str]:
    """A queue of the lines that heartbeats print."""
    lines: queue.Queue[str] = queue.Queue()
    monkeypatch.setattr(Heartbeat, "say", lambda _, text: lines.put(text))
    return lines


def wait_for(said: queue.Queue[str], beginning: str) -> None:
    """Wait for a line that begins so, up to the time limit of a test."""
    while not said.get().startswith(beginning):
        pass


@pytest.mark.parametrize(
    ("printed", "line"),
    [
        (READ, "1 of 2 packages fetched, fetching torch 2.13.0+cpu (191.8 MB)"),
        ("pip of another time", "starting pip"),
    ],
    ids=["known", "unknown"],
)
def test_progress_is_repeated_while_pip_is_silent(
    said: queue.Queue[str], tmp_path: Path, printed: str, line: str
) -> None:
    pip = [sys.executable, "-c", SILENT, printed, str(tmp_path / "go"), "0"]
    with ThreadPoolExecutor() as pool:
        try:
            done = pool.submit(install, pip, [], PipProgress(3, tmp_path), Heartbeat(every=0.01), tmp_path)
            for _ in range(3):
                wait_for(said, line)
        finally:
            (tmp_path / "go").touch()
        assert done.result()


def test_a_failure_shows_every_error_and_no_address(said: queue.Queue[str], tmp_path: Path) -> None:
    errors = [
        "ERROR: Could not find a version that satisfies the requirement torch==9 (from versions: none)",
        *(f"line {number} of what a compiler said" for number in range(100)),
        "ERROR: Could not install packages: HTTPSConnectionPool(host='host.example', port=443): /simple/",
        "Cannot reach https://reader:secret@host.example/simple/torch/ at host.example",
    ]
    (tmp_path / "go").touch()
    progress = PipProgress(3, tmp_path)
    pip = [sys.executable, "-c", SILENT, READ + "\n".join(errors), str(tmp_path / "go"), "1"]
    assert not install(pip, [], progress, Heartbeat(), tmp_path)
    shown = progress.complaint()
    assert shown.splitlines()[0] == errors[0] and "line 99 of" in shown and "line 1 of" not in shown
    assert "Could not install packages" in shown and "Cannot reach (address) at (address)" in shown
    assert "host.example" not in shown + "".join(said.queue) and "secret" not in shown
