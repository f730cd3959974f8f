"""Every direct dependency is pinned, and every pin works on any machine: no link, local build or CUDA package."""

from __future__ import annotations

import itertools
import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from press import ROOT
from press.binding import environment

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LINES = [
    line
    for name in environment.PINS
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines()
    if not line.lstrip().startswith("#")
]
PINS = [Requirement(line) for line in LINES]


def test_every_line_pins_one_version_from_an_index() -> None:
    for pin in PINS:
        (specifier,) = pin.specifier
        assert specifier.operator == "==" and not specifier.version.endswith(".*")
        assert pin.url is None and "+" not in specifier.version


def test_every_direct_dependency_is_pinned_to_an_allowed_version() -> None:
    teachers = tomllib.loads((ROOT / "classroom" / "pyproject.toml").read_text(encoding="utf-8"))
    direct: list[str] = []
    for project in (PROJECT["project"], teachers["project"]):
        direct += [*project["dependencies"], *itertools.chain(*project["optional-dependencies"].values())]
    for wanted in (one for one in map(Requirement, direct) if one.name != PROJECT["project"]["name"]):
        found = [pin for pin in PINS if canonicalize_name(pin.name) == canonicalize_name(wanted.name)]
        assert found, f"{wanted.name} is not pinned: run `python -m press pins`"
        for pin in found:
            assert all(wanted.specifier.contains(specifier.version) for specifier in pin.specifier)


def test_cuda_packages_stay_out() -> None:
    excluded = {canonicalize_name(name) for name in PROJECT["tool"]["uv"]["exclude-dependencies"]}
    pinned = {canonicalize_name(pin.name) for pin in PINS}
    assert not excluded & pinned
    assert not [name for name in pinned if name.startswith(("nvidia-", "cuda-", "triton"))]


def test_a_version_is_pinned_once() -> None:
    assert len({str(pin) for pin in PINS}) == len(PINS)
