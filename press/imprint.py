"""The imprint: the authors, the version and its date, and the address of the book.

Title, authors and address are in `_config.yml`, under Jupyter Book's own keys; the version is in `pyproject.toml`, its
day in `CHANGELOG.md`. All other code reads them from here. Without a repository, the book has no address, and nothing
that needs one is shown.
"""

from __future__ import annotations

import dataclasses
import datetime
import re
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from press.manuscript.problems import PressError, Problem

CONFIG, CHANGES, CITATION = Path("_config.yml"), Path("CHANGELOG.md"), Path("CITATION.cff")
# The line of a page that the byline replaces.
BYLINE = "<!-- authors and day -->"
LICENCES = {"Code": ("BSD 3-Clause", "BSD-3-Clause"), "text and pictures": ("CC BY 4.0", "CC-BY-4.0")}
# Part of the host's name, and the paths of its pages for editing a file and for reporting an issue.
_HOSTS = {"github": ("edit", "issues/new"), "gitlab": ("-/edit", "-/issues/new")}
# Services that open a notebook; Colab fetches only from GitHub.
_LAUNCHERS = ("binderhub_url", "colab_url", "jupyterhub_url")


@dataclasses.dataclass(frozen=True)
class Imprint:
    """What the book says about itself. ``repository``, ``site`` and ``discussion`` may be ``""``."""

    title: str = ""
    authors: str = ""
    version: str = ""
    day: datetime.date | None = None
    repository: str = ""
    branch: str = "main"
    site: str = ""
    discussion: str = ""
    launchers: tuple[tuple[str, str], ...] = ()

    @property
    def byline(self) -> str:
        """A paragraph of the title page: authors, version, date and licences."""
        if self.day is None:
            return ""
        day = f"{self.day.day} {self.day:%B %Y}"
        rights = "; ".join(f"{what}: {name}" for what, (name, _) in LICENCES.items())
        return f"*By {self.authors}. Version {self.version}, {day}. {rights}.*"

    def host(self) -> str:
        """``"github"`` or ``"gitlab"``, or ``""`` without a repository."""
        return next((name for name in _HOSTS if name in urlsplit(self.repository).netloc), "")

    def edit(self, path: str) -> str:
        return f"{self.repository}/{_HOSTS[self.host()][0]}/{self.branch}/{path}"

    def folder(self, path: str) -> str:
        return f"{self.repository}/{'-/' if self.host() == 'gitlab' else ''}tree/{self.branch}/{path}"

    def report(self) -> str:
        return f"{self.repository}/{_HOSTS[self.host()][1]}"

    @property
    def requirement(self) -> str:
        """The requirement from which pip installs the book's package from the repository."""
        return f"git+{self.repository}@{self.branch}"


def read(root: Path) -> Imprint:
    """The imprint of a project; empty without a `_config.yml`.

    Raises:
        PressError: the address is invalid, or the version has no date.
    """
    if not (root / CONFIG).is_file():
        return Imprint()
    config = yaml.safe_load((root / CONFIG).read_text(encoding="utf-8"))
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    options = config.get("repository") or {}
    repository = _repository(root, str(options.get("url") or ""))
    launch = config.get("launch_buttons") or {}
    imprint = Imprint(
        title=config["title"],
        authors=config["author"],
        version=project["version"],
        day=_day(root, project["version"]),
        repository=repository,
        branch=str(options.get("branch") or "main"),
        discussion=str(options.get("discussion") or "") if repository else "",
        site=str((config.get("html") or {}).get("baseurl") or "").rstrip("/"),
    )
    launchers = tuple((name, url) for name in _LAUNCHERS if repository and (url := str(launch.get(name) or "")))
    if imprint.host() != "github":
        launchers = tuple(pair for pair in launchers if pair[0] != "colab_url")
    return dataclasses.replace(imprint, launchers=launchers)


def _repository(root: Path, url: str) -> str:
    url = url.rstrip("/").removesuffix(".git")
    parts = urlsplit(url)
    known = parts.scheme == "https" and any(host in parts.netloc for host in _HOSTS)
    if url and not (known and re.fullmatch(r"/[^/]+(/[^/]+)+", parts.path)):
        message = (
            f"repository.url {url!r} is not a GitHub or GitLab address: "
            "write https://github.com/OWNER/NAME, or leave it empty"
        )
        raise PressError(Problem(root / CONFIG, 1, message))
    return url


def _day(root: Path, version: str) -> datetime.date:
    text = (root / CHANGES).read_text(encoding="utf-8") if (root / CHANGES).is_file() else ""
    newest = re.search(r"^## (?P<version>\S+) · (?P<day>\d{4}-\d\d-\d\d)$", text, re.MULTILINE)
    if not newest or newest["version"] != version:
        message = f"its newest version must match pyproject.toml: begin with `## {version} · YEAR-MONTH-DAY`"
        raise PressError(Problem(root / CHANGES, 1, message))
    return datetime.date.fromisoformat(newest["day"])


def citation(imprint: Imprint) -> str:
    assert imprint.day
    address = {"url": imprint.site or imprint.repository} if imprint.site or imprint.repository else {}
    code = {"repository-code": imprint.repository} if imprint.repository else {}
    fields: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use this book, please cite it as below.",
        "type": "software",
        "title": imprint.title,
        "authors": [{"name": imprint.authors}],
        "version": imprint.version,
        "date-released": imprint.day,
        "license": [identifier for _, identifier in LICENCES.values()],
        **code,
        **address,
        "preferred-citation": {
            "type": "book",
            "title": imprint.title,
            "authors": [{"name": imprint.authors}],
            "year": imprint.day.year,
            "month": imprint.day.month,
            "edition": f"Version {imprint.version}",
            **address,
        },
    }
    heading = f"# Generated from {CONFIG}, {CHANGES} and pyproject.toml by `make notebooks`.\n"
    return heading + yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=120)
