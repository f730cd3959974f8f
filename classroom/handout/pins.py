"""Select the pins of ``requirements.txt`` that a learner needs."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from press import ROOT

_PIN = re.compile(r"^(?P<name>[A-Za-z0-9][\w.-]*)==")
_REASON = re.compile(r"^ +# +(?:via +)?(?P<name>[A-Za-z0-9][\w.-]*)(?P<direct> \(pyproject\.toml\))?$")


def needed(*extras: str, root: Path = ROOT) -> list[str]:
    """The pins for the imports of the notebooks and for some extras, with all their dependencies.

    Comments in the file name the packages that need each pin, on every platform, so nothing has to be installed.

    Args:
        extras: their names in ``pyproject.toml``: ``"lab"`` to open notebooks, ``"press"`` to read them.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    requirements = [
        *project["dependencies"],
        *(name for extra in ("notebooks", "torch", *extras) for name in project["optional-dependencies"][extra]),
    ]
    pins = list(_pins((root / "requirements.txt").read_text(encoding="utf-8")))
    wanted = {_normal(re.split(r"[^\w.-]", requirement.strip(), maxsplit=1)[0]) for requirement in requirements}
    while more := {name for name, _, reasons in pins if name not in wanted and wanted & reasons}:
        wanted |= more
    return [line for name, line, _ in pins if name in wanted]


def extras_of(chapters: Iterable[str]) -> tuple[str, ...]:
    """The extras that the exercises of these chapters need: ``("models",)`` or none."""
    paths = (path for chapter in chapters for path in (ROOT / "fxbook" / "tasks" / chapter).rglob("*"))
    texts = (path.read_text(encoding="utf-8") for path in paths if path.suffix in (".md", ".py"))
    return ("models",) if any("fxbook.models" in text for text in texts) else ()


def _pins(text: str) -> Iterator[tuple[str, str, set[str]]]:
    name, line, reasons = "", "", set[str]()
    for row in [*text.splitlines(), "end=="]:
        if pin := _PIN.match(row):
            if name:
                yield name, line, reasons
            name, line, reasons = _normal(pin["name"]), row, set()
        elif (reason := _REASON.match(row)) and not reason["direct"]:
            reasons.add(_normal(reason["name"]))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
