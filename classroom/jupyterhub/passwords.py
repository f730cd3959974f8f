"""A password for each student of a class without accounts: made here, told once, kept as a hash."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jupyterhub.auth import Authenticator
from traitlets import Unicode

from classroom.jupyterhub.place import Place

# Without letters that look alike on paper; twelve of these cannot be guessed.
_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
_GROUPS, _GROUP = 3, 4


class PasswordAuthenticator(Authenticator):
    """Log in by one's own password; who may is looked up each time, so that the class can change while the hub runs."""

    folder = Unicode(config=True, help="The folder of the hub, with students.txt and what `passwords` wrote.")

    async def authenticate(self, handler: Any, data: Mapping[str, str]) -> str | None:
        """The name, where the password is that student's."""
        name = self.normalize_username(data["username"])
        return name if fits(Place(Path(self.folder)).passwords, name, data["password"]) else None

    def check_allowed(self, username: str, authentication: Any = None) -> bool:
        """Whether ``students.txt`` still has the name."""
        return username in Place(Path(self.folder)).roster


def issue(file: Path, names: Iterable[str], again: Iterable[str] = ()) -> dict[str, str]:
    """Make passwords for those who have none.

    Args:
        file: keeps the hashes, for the hub alone to read.
        names: the students.
        again: who of them gets a new one, the old one being lost.

    Returns:
        The new passwords by name: nothing else tells them ever after.
    """
    entries, again = _kept(file), set(again)
    issued = {name: _password() for name in names if name not in entries or name in again}
    for name, password in issued.items():
        salt = secrets.token_bytes(16)
        entries[name] = {"salt": salt.hex(), "hash": _hash(password, salt).hex()}
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as writer:
        json.dump(entries, writer, indent=1)
    draft.replace(file)
    return issued


def fits(file: Path, name: str, password: str) -> bool:
    """Whether a password is that of a student."""
    # Somebody unknown takes as long, so that names cannot be tried.
    entry = _kept(file).get(name, {"salt": "00" * 16, "hash": ""})
    typed = password.strip().lower()
    return hmac.compare_digest(_hash(typed, bytes.fromhex(entry["salt"])), bytes.fromhex(entry["hash"]))


def _kept(file: Path) -> dict[str, dict[str, str]]:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def _password() -> str:
    return "-".join("".join(secrets.choice(_LETTERS) for _ in range(_GROUP)) for _ in range(_GROUPS))


def _hash(password: str, salt: bytes) -> bytes:
    # Of a password that cannot be guessed; light enough for a class that logs in at once.
    return hashlib.scrypt(password.encode(), salt=salt, n=2**12, r=8, p=1)
