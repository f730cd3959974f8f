"""Where the hub of a class keeps what it needs: one folder, named by ``FXBOOK_HUB``."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

FOLDER = "FXBOOK_HUB"
# A name is a folder too, and part of an address: no slash, no leading dot, and no apostrophe or plus, with which the
# address of a server is not found.
NAME = r"\w[\w.@ -]{0,62}"


@dataclasses.dataclass(frozen=True)
class Place:
    """The folder of a hub: its releases, its students, and the files that JupyterHub writes."""

    root: Path

    @property
    def releases(self) -> Path:
        """Holds the zips that ``python -m classroom release`` made; each student gets a copy of what is in them."""
        return self.root / "releases"

    @property
    def students(self) -> Path:
        """Holds one folder for each student who has no account on the machine."""
        return self.root / "students"

    @property
    def passwords(self) -> Path:
        """Holds the hashes of the students' passwords, where they have some of their own."""
        return self.root / "passwords.json"

    @property
    def roster(self) -> list[str]:
        """Who may log in: the lines of ``students.txt``, in lower case as JupyterHub has them; empty without one."""
        try:
            text = (self.root / "students.txt").read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            return []
        lines = (line.strip().lower() for line in text.splitlines())
        return [line for line in lines if line and not line.startswith("#")]

    def make(self) -> None:
        """Make the folders, and close them to other people on the machine."""
        for folder in (self.root, self.releases, self.students):
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o700)


def here() -> Place:
    """The folder that ``FXBOOK_HUB`` names, or ``fxbook-hub`` in the home folder."""
    return Place(Path(os.environ.get(FOLDER) or "~/fxbook-hub").expanduser().resolve())


def is_name(name: str) -> bool:
    """Whether a student of this name can have a folder of this name."""
    return re.fullmatch(NAME, name) is not None and not name.endswith((" ", "."))
