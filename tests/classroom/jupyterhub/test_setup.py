"""What a hub is made of, without a hub: its configuration, what students get, what is collected, a cluster's files."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from classroom.jupyterhub import bubble, place, start
from classroom.jupyterhub.__main__ import main
from classroom.jupyterhub.collect import CollectError, collect, homes
from press import ROOT

HERE = ROOT / "classroom" / "jupyterhub"
NOTEBOOK = "week-1/exercises/01_node_creation.ipynb"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> place.Place:
    """The folder of a hub, with nobody in it."""
    monkeypatch.setenv(place.FOLDER, str(tmp_path / "hub"))
    for name in ("FXBOOK_HUB_LOGIN", "FXBOOK_HUB_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    place.here().make()
    return place.here()


def packed(path: Path, files: dict[str, str]) -> Path:
    """A zip of these files."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


# --- the configuration


@pytest.fixture
def config(hub: place.Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Load the configuration as JupyterHub does, on a machine that has all it needs."""
    pytest.importorskip("jupyterhub", reason="no JupyterHub here: install classroom/requirements.txt")
    from traitlets.config.loader import PyFileConfigLoader

    proxy = tmp_path / "bin" / "configurable-http-proxy"
    proxy.parent.mkdir()
    proxy.write_text("#!/bin/sh\n")
    proxy.chmod(0o755)
    monkeypatch.setenv("PATH", str(proxy.parent))
    monkeypatch.setattr(bubble, "refusal", lambda folder: "")

    def load(**environment: str) -> Any:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return PyFileConfigLoader("jupyterhub_config.py", path=str(HERE)).load_config()

    return load


def test_without_a_way_to_log_in_it_does_not_start(config: Any) -> None:
    with pytest.raises(SystemExit, match="Say how students log in"):
        config()


def test_without_a_bubble_it_does_not_start(config: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubble, "refusal", lambda folder: "bubblewrap is not installed")
    with pytest.raises(SystemExit, match="bubblewrap is not installed"):
        config(FXBOOK_HUB_PASSWORD="a long password")


def test_without_a_proxy_it_does_not_start(config: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="apt install node-configurable-http-proxy"):
        config(FXBOOK_HUB_PASSWORD="a long password", PATH="")


def test_one_password_is_for_whoever_has_it_or_for_the_list(config: Any, hub: place.Place) -> None:
    c = config(FXBOOK_HUB_PASSWORD="a long password")
    assert c.JupyterHub.authenticator_class == "shared-password"
    assert c.SharedPasswordAuthenticator.user_password == "a long password"
    assert c.Authenticator.allow_all is True
    assert "FXBOOK_HUB_PASSWORD" not in os.environ

    (hub.root / "students.txt").write_text("\ufeffAnna\n# away: carl\n\n  berta@school.example \n", encoding="utf-8")
    c = config(FXBOOK_HUB_PASSWORD="a long password")
    assert c.Authenticator.allowed_users == {"anna", "berta@school.example"}
    assert c.Authenticator.allow_all is False


def test_another_login_lets_nobody_in_who_is_not_listed(config: Any) -> None:
    c = config(FXBOOK_HUB_LOGIN="pam")
    assert c.JupyterHub.authenticator_class == "pam"
    assert c.JupyterHub.spawner_class.__name__ == "AccountSpawner"
    assert c.Authenticator.allow_all is False
    assert config(FXBOOK_HUB_LOGIN="native").JupyterHub.spawner_class.__name__ == "ClassSpawner"


def test_a_class_has_passwords_of_its_own(config: Any, hub: place.Place, capsys: Any) -> None:
    from classroom.jupyterhub.passwords import fits

    listed = hub.root / "students.txt"
    assert main(["passwords"]) == 1
    assert f"Write the names of your students into {listed}" in capsys.readouterr().err
    listed.write_text("anna\nlong/name\n")
    assert main(["passwords"]) == 1
    assert "take other names for long/name" in capsys.readouterr().err

    listed.write_text("anna\nberta\n")
    assert main(["passwords"]) == 0
    passwords = dict(line.split(",") for line in capsys.readouterr().out.splitlines())
    assert list(passwords) == ["anna", "berta"] and passwords["anna"] != passwords["berta"]
    assert all(re.fullmatch(r"(\w{4}-){2}\w{4}", password) for password in passwords.values())
    assert main(["passwords"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["passwords", "--new", "anna"]) == 0
    again = capsys.readouterr().out.strip().removeprefix("anna,")
    assert fits(hub.passwords, "anna", again) and fits(hub.passwords, "berta", passwords["berta"])
    assert not fits(hub.passwords, "anna", passwords["anna"]) and not fits(hub.passwords, "carl", "")
    assert main(["passwords", "--new", "carl"]) == 1
    assert passwords["berta"] not in hub.passwords.read_text() and hub.passwords.stat().st_mode & 0o077 == 0

    c = config()
    assert c.JupyterHub.authenticator_class.__name__ == "PasswordAuthenticator"
    assert c.PasswordAuthenticator.folder == str(hub.root)
    assert (c.Authenticator.allow_all, c.Authenticator.allow_existing_users) == (False, False)


def test_it_listens_on_loopback_alone(config: Any, hub: place.Place) -> None:
    c = config(FXBOOK_HUB_PASSWORD="a long password")
    urls = (c.JupyterHub.bind_url, c.JupyterHub.hub_bind_url, c.ConfigurableHTTPProxy.api_url)
    assert [url.rpartition(":")[0] for url in urls] == ["http://127.0.0.1"] * 3
    assert c.ClassSpawner.students == str(hub.students)


def test_nobody_else_on_the_machine_sees_the_students(hub: place.Place) -> None:
    hub.root.chmod(0o755)
    hub.make()
    assert {folder.stat().st_mode & 0o077 for folder in (hub.root, hub.students, hub.releases)} == {0}


@pytest.mark.parametrize("name", ["anna", "berta@school.example", "zoë b", "2026-017", "a_b.c"])
def test_names_that_students_have(name: str) -> None:
    assert place.is_name(name)


@pytest.mark.parametrize("name", ["", ".", "..", ".ssh", "a/b", "../anna", "a\0", "a\n", "-rf", "a.", "a ", "a" * 64])
def test_names_that_lead_elsewhere(name: str) -> None:
    assert not place.is_name(name)


# --- the bubble


def test_a_bubble_refuses_to_show_what_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubble.shutil, "which", lambda name: f"/usr/bin/{name}")
    (tmp_path / "hub").mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert bubble.refusal(tmp_path / "hub").endswith(f"lies in {tmp_path}, which students see: move it.")
    monkeypatch.setattr(sys, "prefix", str(ROOT))
    assert "the checkout of the book" in bubble.refusal(tmp_path / "hub")


def test_a_bubble_shows_nothing_of_the_checkout_but_the_checks(tmp_path: Path) -> None:
    command = bubble.command(tmp_path, "/home/anna", tmp_path)
    sources = [Path(command[i + 1]) for i, word in enumerate(command) if word in ("--bind", "--ro-bind")]
    of_the_book = {path.relative_to(ROOT).as_posix() for path in sources if path.is_relative_to(ROOT)}
    assert of_the_book - {".venv"} == {"fxbook", "classroom/jupyterhub/start.py", "classroom/jupyterhub/settings"}
    assert not any(ROOT.is_relative_to(path) for path in sources)


# --- what a student gets


def laid_out(releases: Path, home: Path) -> list[str]:
    return start.lay_out(start.packed(releases), home)


def test_a_student_gets_the_exercises_once(tmp_path: Path) -> None:
    releases, home = tmp_path / "releases", tmp_path / "anna"
    releases.mkdir()
    home.mkdir()
    shipped = {NOTEBOOK: "task", "week-1/exercises/fxbook/__init__.py": "checks", "week-1/README.md": "read me"}
    packed(releases / "week1.zip", shipped)
    assert laid_out(releases, home) == []
    assert sorted(path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()) == [
        "week-1/README.md",
        NOTEBOOK,
    ]

    (home / NOTEBOOK).write_text("answer")
    (home / "week-1/README.md").unlink()
    packed(releases / "week1.zip", {**shipped, NOTEBOOK: "new task", "week-1/exercises/02.ipynb": "more"})
    assert laid_out(releases, home) == []
    assert (home / NOTEBOOK).read_text() == "answer"
    assert (home / "week-1/README.md").read_text() == "read me"
    assert (home / "week-1/exercises/02.ipynb").read_text() == "more"
    assert not list(home.rglob("*.part"))


def test_a_bad_release_costs_no_other(tmp_path: Path) -> None:
    releases, home = tmp_path / "releases", tmp_path / "anna"
    releases.mkdir()
    home.mkdir()
    packed(releases / "1.zip", {"../berta.ipynb": ""})
    (releases / "2.zip").write_text("no zip")
    packed(releases / "3.zip", {"taken/a.ipynb": ""})
    (home / "taken").write_text("a file of the student's")
    packed(releases / "4.zip", {NOTEBOOK: "task"})
    troubles = laid_out(releases, home)
    assert [trouble.partition(" ")[0] for trouble in troubles] == ["1.zip", "2.zip", "3.zip"]
    assert (home / NOTEBOOK).read_text() == "task"
    assert not (tmp_path / "berta.ipynb").exists()


def test_the_server_starts_whatever_is_wrong_with_the_releases(tmp_path: Path) -> None:
    command = [sys.executable, str(HERE / "start.py"), "--memory", str(1 << 30), str(tmp_path / "nowhere"), "pwd", "-P"]
    result = subprocess.run(command, env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True)
    assert (result.returncode, result.stdout.strip()) == (0, str(tmp_path.resolve()))
    assert result.stderr.startswith("The releases cannot be read: ")


# --- what is collected


def test_what_students_put_in_the_way_is_not_followed(hub: place.Place, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    (secret / "exercises").mkdir(parents=True)
    (secret / "exercises" / "01_node_creation.ipynb").write_text("secret")
    release = packed(hub.releases / "week1.zip", {NOTEBOOK: "task"})
    folders = {
        name: hub.students / name / "week-1" / "exercises" for name in ("file", "pipe", "folder", "large", "good")
    }
    for exercises in folders.values():
        exercises.mkdir(parents=True)
    (folders["file"] / "01_node_creation.ipynb").symlink_to(secret / "exercises" / "01_node_creation.ipynb")
    os.mkfifo(folders["pipe"] / "01_node_creation.ipynb")
    (folders["folder"] / "01_node_creation.ipynb").mkdir()
    with (folders["large"] / "01_node_creation.ipynb").open("wb") as file:
        file.truncate(200 << 20)
    (folders["good"] / "01_node_creation.ipynb").write_text("answer")
    os.utime(folders["good"] / "01_node_creation.ipynb", (1e9, 1e9))
    (hub.students / "inner").mkdir()
    (hub.students / "inner" / "week-1").symlink_to(secret)
    (hub.students / "outer").symlink_to(secret)
    (hub.students / "empty").mkdir()

    collected = collect(release, homes(hub), tmp_path / "out")
    assert collected.notebooks == {"empty": 0, "file": 0, "folder": 0, "good": 1, "inner": 0, "large": 0, "pipe": 0}
    problems = {problem.partition(":")[0].partition(" ")[0]: problem for problem in collected.problems}
    assert set(problems) == {"empty", "file", "folder", "inner", "large", "pipe"}
    assert problems["empty"] == f"empty has no {NOTEBOOK}."
    assert "more than the 10 MB" in problems["large"]
    [copy] = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert (copy.parent.name, copy.read_text(), copy.stat().st_mtime) == ("good", "answer", 1e9)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(collected.notebooks)


def test_collecting_tells_a_teacher_what_to_do(hub: place.Place, tmp_path: Path, capsys: Any) -> None:
    release = packed(hub.releases / "week1.zip", {NOTEBOOK: "task"})
    out = ["--out", str(tmp_path / "out")]
    assert main(["collect", "week1.zip", *out]) == 1
    assert "nobody has started a server" in capsys.readouterr().err
    (hub.students / "anna" / "week-1" / "exercises").mkdir(parents=True)
    (hub.students / "anna" / NOTEBOOK).write_text("answer")
    assert main(["collect", "week1.zip", *out]) == 0
    assert capsys.readouterr().out == f"1 notebooks of 1 students are in {tmp_path / 'out'}.\n"
    assert main(["collect", "week9.zip", *out]) == 1
    assert "name the one that was handed out" in capsys.readouterr().err
    with pytest.raises(CollectError, match="holds no notebook"):
        collect(packed(hub.releases / "other.zip", {"a.txt": ""}), homes(hub), tmp_path / "out")
    with pytest.raises(CollectError, match="choose another folder"):
        collect(release, homes(hub), release)
    with pytest.raises(CollectError, match="names nobody"):
        homes(hub, accounts=True)
    (hub.root / "students.txt").write_text("nobody-of-this-name\n")
    with pytest.raises(CollectError, match="who has no account"):
        homes(hub, accounts=True)


# --- the cluster


def test_the_values_fit_the_image_and_let_nobody_in_by_default() -> None:
    values = yaml.safe_load((HERE / "values.yaml").read_text(encoding="utf-8"))
    assert set(values) == {"hub", "proxy", "singleuser", "cull", "prePuller"}
    assert values["hub"]["config"]["JupyterHub"]["authenticator_class"] != "dummy"
    assert values["hub"]["config"]["Authenticator"]["allowed_users"] == []
    rules = values["singleuser"]["networkPolicy"]["egressAllowRules"]
    assert {name for name, allowed in rules.items() if allowed} == {name for name in rules if name.startswith("dns")}

    dockerfile = (HERE / "Dockerfile").read_text(encoding="utf-8")
    joined = re.sub(r"\\\n", " ", dockerfile)
    instructions = [line.split(maxsplit=1) for line in joined.splitlines() if line and not line.startswith("#")]
    assert {name for name, _ in instructions} == {"FROM", "ARG", "RUN", "WORKDIR", "COPY", "ENV", "USER", "CMD"}
    [command] = [yaml.safe_load(rest) for name, rest in instructions if name == "CMD"]
    assert values["singleuser"]["cmd"] == command
    copied = [shlex.split(rest) for name, rest in instructions if name == "COPY" and not rest.startswith("--from")]
    sources = [source for words in copied for source in words[:-1]]
    own = ["classroom/jupyterhub/start.py", "classroom/jupyterhub/settings"]
    assert sources == ["pyproject.toml", "requirements.txt", "fxbook", *own]
    assert all((ROOT / source).exists() for source in sources)
    assert command[1] in {words[-1] for words in copied}
