"""Lay out the exercises in a student's folder, then become the student's server.

It runs as the student, so that it can write nowhere else, and needs Python alone: a cluster's image has a copy of it.

    python start.py [--user ID] [--memory BYTES] RELEASES COMMAND...

The student's folder is ``HOME``. Of each zip in ``RELEASES`` it gets the files that are not there yet: what a student
has changed is never touched, what a student has deleted comes back as it was handed out.
"""

from __future__ import annotations

import argparse
import io
import os
import resource
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

# On a hub, the checks are those of the environment: one copy for all, which the teacher mends in one place.
_LIBRARY = "exercises/fxbook/"


def packed(releases: Path) -> dict[str, bytes]:
    """The zips of a folder, by name.

    Raises:
        OSError: one cannot be read.
    """
    return {release.name: release.read_bytes() for release in sorted(releases.iterdir()) if release.suffix == ".zip"}


def lay_out(zips: Mapping[str, bytes], home: Path) -> list[str]:
    """Copy what is missing from the releases into a student's folder.

    Args:
        zips: the releases, by name.
        home: the student's folder.

    Returns:
        What could not be laid out, a sentence for each; the rest is.
    """
    troubles = []
    for name, data in zips.items():
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for entry in archive.infolist():
                    if not entry.is_dir() and _LIBRARY not in entry.filename:
                        _lay(archive.read(entry), home, PurePosixPath(entry.filename))
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            troubles.append(f"{name} is not laid out in {home}: {error}.")
    return troubles


def _lay(data: bytes, home: Path, name: PurePosixPath) -> None:
    if name.is_absolute() or ".." in name.parts:
        raise ValueError(f"{name} leads out of the zip")
    target = home / name
    if os.path.lexists(target):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    # Whole or not at all: a server may be stopped at any moment.
    draft = target.with_name(f".{target.name}.part")
    draft.write_bytes(data)
    draft.rename(target)


def _become(user: int) -> None:
    """Give up root for good."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def main(arguments: list[str]) -> None:
    """Never returns: the process becomes the command."""
    parser = argparse.ArgumentParser(description="Lay out the exercises, then run a command.")
    parser.add_argument("--user", type=int, help="the user id to run as; only root can change it")
    parser.add_argument("--memory", type=int, help="bytes of data that each process may have")
    parser.add_argument("releases", type=Path)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    zips, troubles = {}, []
    try:
        # Before it is the student, who need not be able to read the teacher's files.
        zips = packed(options.releases)
    except OSError as error:
        troubles.append(f"The releases cannot be read: {error}.")
    if options.user is not None:
        _become(options.user)
    if options.memory:
        resource.setrlimit(resource.RLIMIT_DATA, (options.memory, options.memory))
    home = Path.home()
    os.chdir(home)
    for trouble in troubles + lay_out(zips, home):
        print(trouble, file=sys.stderr)
    os.execvp(options.command[0], options.command)


if __name__ == "__main__":
    main(sys.argv[1:])
