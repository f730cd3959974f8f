"""Files for a public host match their schemas, and the commands and files that they name exist."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from check_jsonschema import main as check_jsonschema
from click.testing import CliRunner, Result
from packaging.specifiers import SpecifierSet

from press import ROOT, __main__

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def check(schema: str, *files: Path) -> Result:
    """Validate files with a schema that check-jsonschema ships."""
    return CliRunner().invoke(check_jsonschema, ["--builtin-schema", f"vendor.{schema}", *map(str, files)])


def test_the_workflows_are_valid(tmp_path: Path) -> None:
    done = check("github-workflows", *WORKFLOWS)
    assert (len(WORKFLOWS), done.exit_code) == (4, 0), done.output
    broken = tmp_path / "broken.yml"
    broken.write_text(WORKFLOWS[0].read_text(encoding="utf-8").replace("runs-on", "runs-at"), encoding="utf-8")
    assert check("github-workflows", broken).exit_code == 1


def test_the_citation_is_valid(tmp_path: Path) -> None:
    done = check("citation-file-format", ROOT / "CITATION.cff")
    assert done.exit_code == 0, done.output
    broken = tmp_path / "CITATION.cff"
    broken.write_text((ROOT / "CITATION.cff").read_text(encoding="utf-8").replace("authors:", "writers:"), "utf-8")
    assert check("citation-file-format", broken).exit_code == 1


def steps(workflow: Path) -> list[str]:
    """The commands in a workflow's steps."""
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
    return [step["run"] for job in jobs for step in job["steps"] if "run" in step]


def unknown(command: str) -> list[str]:
    """The names in a command that this project does not have."""
    words = shlex.split(command)
    known = {name.replace("_", "-") for name in vars(__main__)}
    missing = [word for before, word in itertools.pairwise(words) if before == "press" and word not in known]
    paths = [word for word in words if re.match(r"^(\.?[\w-]+/[\w./*-]+|chapters|solutions)$", word)]
    paths = [path for path in paths if not path.startswith(".venv")]
    return missing + [path for path in paths if not list(ROOT.glob(path))]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_what_exists(workflow: Path) -> None:
    assert steps(workflow)
    assert [lost for command in steps(workflow) for lost in unknown(command)] == []
    assert unknown("python -m press bind tests/nowhere") == ["bind", "tests/nowhere"]


def test_jobs_have_time_limits_and_few_permissions() -> None:
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert workflow["permissions"] == {"contents": "read"}
        assert all(job["timeout-minutes"] <= 90 for job in workflow["jobs"].values())


def test_the_dev_container_installs_what_the_tests_need_and_runs_what_exists() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert unknown(container["postCreateCommand"]) == []
    version = re.search(r":(\d\.\d+)-", container["image"])
    assert version and SpecifierSet(PROJECT["requires-python"]).contains(version[1])
    installed = set(re.findall(r"[\w-]+", container["onCreateCommand"].partition("--no-install-recommends")[2]))
    needed = (ROOT / ".ci" / "tools").read_text(encoding="utf-8").partition("--no-install-recommends \\\n")[2]
    assert installed == set(needed.partition(">")[0].split()) - {"node-configurable-http-proxy"}


def test_binder_finds_what_it_reads() -> None:
    folder = ROOT / ".binder"
    assert {path.name for path in folder.iterdir()} == {"runtime.txt", "postBuild"}
    version = re.fullmatch(r"python-(\d\.\d+)\n", (folder / "runtime.txt").read_text(encoding="utf-8"))
    assert version and SpecifierSet(PROJECT["requires-python"]).contains(version[1])
    build = folder / "postBuild"
    assert os.access(build, os.X_OK), "Binder runs it"
    subprocess.run(["bash", "-n", str(build)], check=True)
    text = build.read_text(encoding="utf-8")
    extras = re.findall(r"\.\[([\w,]+)\]", text)
    assert extras and set(extras[0].split(",")) <= set(PROJECT["optional-dependencies"])
    folders = re.search(r"^find (.*?) -name", text, re.MULTILINE)
    assert folders and all((ROOT / name).is_dir() for name in folders[1].split())
