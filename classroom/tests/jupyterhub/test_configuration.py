"""The hub's configuration is valid, a hub starts with it, and the guide's loop collects a class."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterable
from pathlib import Path

import pytest

from classroom.assignment import of_chapters
from classroom.collect import submissions
from press import ROOT

pytest.importorskip("jupyterhub", reason="JupyterHub is not installed: pip install -r classroom/requirements.txt")

from jupyter_server.serverapp import ServerApp
from jupyterhub.app import JupyterHub
from traitlets.config import Config, HasTraits
from traitlets.config.loader import PyFileConfigLoader

HERE = ROOT / "classroom" / "jupyterhub"
CONFIGURATION, PAGE = HERE / "jupyterhub_config.py", HERE / "README.md"
CHAPTER = "02_insertion_points"


def loaded() -> Config:
    return PyFileConfigLoader(CONFIGURATION.name, path=str(HERE)).load_config()


def unknown(names: Iterable[str], classes: Iterable[type[HasTraits]]) -> list[str]:
    """The ``Class.setting`` names that no class has."""
    known = {base.__name__: base for given in classes for base in given.__mro__ if issubclass(base, HasTraits)}
    pairs = [(name, *name.split(".")) for name in names]
    return [
        name
        for name, section, setting in pairs
        if section not in known or setting not in known[section].class_trait_names(config=True)
    ]


def test_all_settings_exist() -> None:
    config, of_the_hub = loaded(), JupyterHub().classes
    names = [f"{section}.{name}" for section, values in config.items() for name in values]
    assert len(names) > 10 and unknown(names, of_the_hub) == []
    options = [re.fullmatch(r"--(\w+\.\w+)=.+", option)[1] for option in config.Spawner.args]
    assert unknown(options, [ServerApp, *ServerApp.classes]) == []
    assert unknown(["Spawner.memlimit", "Hub.url"], of_the_hub) == ["Spawner.memlimit", "Hub.url"]


def test_hub_is_local_and_limited_to_a_group() -> None:
    c = loaded()
    urls = (c.JupyterHub.bind_url, c.JupyterHub.hub_bind_url, c.ConfigurableHTTPProxy.api_url)
    assert [url.rpartition(":")[0] for url in urls] == ["http://127.0.0.1"] * 3
    assert c.LocalAuthenticator.allowed_groups == {"students"} and "allow_all" not in c.Authenticator


@pytest.mark.skipif(not shutil.which("prlimit"), reason="there is no prlimit: apt install util-linux")
def test_server_memory_is_limited() -> None:
    *limit, server = loaded().Spawner.cmd
    assert Path(server).name == "jupyterhub-singleuser"
    code = "try:\n    bytearray(3 << 30)\nexcept MemoryError:\n    print(len(bytearray(1 << 20)))"
    done = subprocess.run([*limit, sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, str(1 << 20)), done.stderr


def free_ports(count: int) -> list[int]:
    """Free ports outside the range from which the system assigns ports, for example to kernels."""
    ports: list[int] = []
    for port in range(20_000 + os.getpid() % 10_000, 32_000):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            ports.append(port)
        if len(ports) == count:
            return ports
    raise AssertionError("all ports are taken")


@pytest.mark.skipif(
    not shutil.which("configurable-http-proxy"),
    reason="there is no proxy for JupyterHub: apt install node-configurable-http-proxy",
)
def test_hub_starts_and_answers(tmp_path: Path) -> None:
    outside, inside, proxy = (f"http://127.0.0.1:{port}" for port in free_ports(3))
    places = [f"--JupyterHub.bind_url={outside}", f"--JupyterHub.hub_bind_url={inside}"]
    command = [sys.executable, "-m", "jupyterhub", "-f", str(CONFIGURATION), *places]
    command += [f"--ConfigurableHTTPProxy.api_url={proxy}"]
    options = {"cwd": tmp_path, "text": True}
    printed = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options) as hub:
        try:
            for line in hub.stdout or ():
                printed.append(line)
                if "JupyterHub is now running" in line:
                    break
            else:
                pytest.fail("".join(printed))
            with urllib.request.urlopen(f"{outside}/hub/health") as answer:
                assert answer.status == 200
        finally:
            # This ends the proxy too.
            hub.terminate()
            hub.communicate()


def test_collection_loop_follows_no_link(tmp_path: Path) -> None:
    """``sudo`` is a stand-in that only changes to the student's home folder."""
    [loop] = re.findall(r"^while read.*?^done [^\n]*", PAGE.read_text().partition("## Collect")[2], re.M | re.S)
    secret = tmp_path / "secret.ipynb"
    secret.write_text("another student's")
    for student in ("anna", "berta"):
        exercises = tmp_path / "home" / student / "week-2" / "exercises"
        (exercises / "fxbook").mkdir(parents=True)
        (exercises / "fxbook" / "__init__.py").write_text("")
        shutil.copy(ROOT / "solutions" / f"{CHAPTER}.ipynb", exercises)
    (exercises / f"{CHAPTER}.ipynb").unlink()
    (exercises / f"{CHAPTER}.ipynb").symlink_to(secret)
    teacher = tmp_path / "home" / "teacher"
    (teacher / "class").mkdir(parents=True)
    (teacher / "class" / "students.txt").write_text("anna\nberta\n")
    sudo = tmp_path / "bin" / "sudo"
    sudo.parent.mkdir()
    sudo.write_text(f'#!/bin/sh\n[ "$1 $2" = "-H -u" ] || exit 1\nHOME={tmp_path}/home/"$3"; shift 3; exec "$@"\n')
    sudo.chmod(0o755)
    environment = {**os.environ, "HOME": str(teacher), "PATH": f"{sudo.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", loop], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")

    collected = submissions.find(teacher / "class/week2/submissions", of_chapters(["02"]))
    by_student = {submission.student: submission for submission in collected}
    assert set(by_student) == {"anna", "berta"}
    assert by_student["anna"].sheets[CHAPTER] == (ROOT / "solutions" / f"{CHAPTER}.ipynb").read_bytes()
    assert CHAPTER not in by_student["berta"].sheets and "link" in str(by_student["berta"].problems)
