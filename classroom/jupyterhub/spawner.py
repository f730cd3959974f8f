"""Start a student's server on this machine: in the student's folder, in a bubble, with the exercises laid out.

Two ways to have students: :class:`ClassSpawner` needs no accounts on the machine and keeps a folder for each;
:class:`AccountSpawner` starts the server of a person who has an account, in that person's home folder.
"""

from __future__ import annotations

import os
import pwd
import sys
from pathlib import Path
from typing import Any

from jupyterhub.spawner import LocalProcessSpawner
from traitlets import Unicode

from classroom.jupyterhub import bubble
from classroom.jupyterhub.place import is_name
from fxbook.checking import apart

# Above what distributions, containers and systemd give out; each student gets the next one.
_FIRST_USER = 1_900_000_000
# In the bubble `/tmp` is the student's own, and short enough for the name of a socket.
_RUNTIME = "/tmp/jupyter"


class SeatError(Exception):
    """A student's server cannot be started; the student sees the message."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.jupyterhub_message = message


class _BubbleSpawner(LocalProcessSpawner):
    """What both have in common."""

    releases = Unicode(config=True, help="The folder of zips that `python -m classroom release` made.")

    def _home(self) -> Path:
        """The student's folder, there for sure."""
        raise NotImplementedError

    def _inside(self) -> str:
        """Where the server sees it."""
        raise NotImplementedError

    def _user(self) -> int | None:
        """The user id that the server takes on by itself."""
        return None

    def user_env(self, env: dict[str, str]) -> dict[str, str]:
        """Add what a server needs to find its folder and the checks; the rest of the hub's environment stays out."""
        path = os.pathsep.join([str(Path(sys.prefix, "bin")), "/usr/local/bin", "/usr/bin", "/bin"])
        threads = str(max(1, round(self.cpu_limit or 1)))
        limits = {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
        names = {"HOME": self._inside(), "USER": self.user.name, "LOGNAME": self.user.name, "SHELL": "/bin/bash"}
        places = {"PATH": path, "PYTHONPATH": bubble.BOOK, "JUPYTER_RUNTIME_DIR": _RUNTIME}
        limits[apart.PATIENCE_VARIABLE] = str(apart.patience())
        return {**env, "LANG": "C.UTF-8", **names, **places, **limits}

    async def start(self) -> tuple[str, int]:
        """Start the server; its address is on loopback."""
        home, user = self._home(), self._user()
        options = [] if user is None else ["--user", str(user)]
        if self.mem_limit:
            options += ["--memory", str(int(self.mem_limit))]
        around = bubble.command(home, self._inside(), Path(self.releases), switch=user is not None)
        start = [sys.executable, bubble.START, *options, bubble.RELEASES]
        self.cmd = [*around, *start, sys.executable, "-m", "jupyterhub.singleuser"]
        self.popen_kwargs = {**self.popen_kwargs, "cwd": "/"}
        return await super().start()


class ClassSpawner(_BubbleSpawner):
    """Servers of students without accounts.

    Where the hub runs as root, each server runs under a user id of its own, that of the student's folder; else under
    that of the hub, and the bubble alone keeps students apart.
    """

    students = Unicode(config=True, help="Holds one folder for each student.")

    def _home(self) -> Path:
        name = self.user.name
        if not is_name(name):
            raise SeatError(f"{name!r} cannot be the name of a folder: ask your teacher for another name.")
        home = Path(self.students, name)
        if not home.is_dir():
            user = self._next_user() if os.geteuid() == 0 else None
            home.mkdir(mode=0o700)
            if user is not None:
                os.chown(home, user, user)
        return home

    def _next_user(self) -> int:
        taken = [home.stat().st_uid for home in Path(self.students).iterdir()]
        return max([_FIRST_USER - 1, *taken]) + 1

    def _inside(self) -> str:
        return f"/home/{self.user.name}"

    def _user(self) -> int | None:
        if os.geteuid() != 0:
            return None
        user = Path(self.students, self.user.name).stat().st_uid
        if user < _FIRST_USER:
            # It would run as whoever that is, the teacher perhaps.
            raise SeatError(f"The folder of {self.user.name} belongs to user {user}: start the hub as that user again.")
        return user

    def make_preexec_fn(self, name: str) -> Any:
        """Nothing: the user changes in the bubble, which only root can make without a namespace of users."""
        return None

    async def move_certs(self, paths: dict[str, str]) -> dict[str, str]:
        """Refuse: certificates would lie outside of the bubble."""
        raise SeatError("Internal TLS is not supported: leave `internal_ssl` off.")


class AccountSpawner(_BubbleSpawner):
    """Servers of people with an account, in their home folder; the hub must run as root."""

    def _home(self) -> Path:
        return Path(self._inside())

    def _inside(self) -> str:
        return pwd.getpwnam(self.user.name).pw_dir
