"""Gather what students did on the hub into a folder that the grader reads: ``NAME/01_node_creation.ipynb`` and so on.

Students write in the folders it reads, perhaps while it reads: no link is followed, on the way or at the end.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pwd
import stat
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from classroom.collect.files import FILE
from classroom.jupyterhub.place import Place, is_name


class CollectError(Exception):
    """Nothing can be collected; the message says what to do."""


@dataclasses.dataclass(frozen=True)
class Collected:
    """What was gathered.

    Args:
        notebooks: how many there are of each student.
        problems: a sentence for each that is not as it should be.
    """

    notebooks: Mapping[str, int]
    problems: tuple[str, ...]


def homes(place: Place, accounts: bool = False) -> dict[str, Path]:
    """The folder of each student, by name.

    Args:
        place: the folder of the hub.
        accounts: they have accounts on the machine; ``students.txt`` names them.

    Raises:
        CollectError: nobody is there.
    """
    if not accounts:
        folders = {
            folder.name: folder
            for folder in sorted(place.students.glob("*"))
            if folder.is_dir() and not folder.is_symlink()
        }
        if not folders:
            raise CollectError(f"{place.students} holds no student: nobody has started a server on this hub yet.")
        return folders
    folders = {}
    for name in place.roster:
        try:
            folders[name] = Path(pwd.getpwnam(name).pw_dir)
        except KeyError:
            raise CollectError(f"students.txt names {name}, who has no account on this machine.") from None
    if not folders:
        raise CollectError(f"{place.root / 'students.txt'} names nobody: write one account a line.")
    return folders


def notebooks(release: Path) -> list[PurePosixPath]:
    """Where the notebooks of a release lie in a student's folder.

    Raises:
        CollectError: it is no release.
    """
    try:
        with zipfile.ZipFile(release) as archive:
            names = [PurePosixPath(name) for name in archive.namelist()]
    except (OSError, zipfile.BadZipFile) as error:
        raise CollectError(f"{release} cannot be read as a zip ({error}): name the one that was handed out.") from error
    paths = [name for name in names if name.suffix == ".ipynb" and ".." not in name.parts and not name.is_absolute()]
    if not paths:
        raise CollectError(f"{release} holds no notebook: name the zip that `python -m classroom release` made.")
    return paths


def collect(release: Path, students: Mapping[str, Path], out: Path) -> Collected:
    """Copy each student's notebooks of a release; a copy that is there is replaced.

    Args:
        release: the zip that was handed out.
        students: the folder of each student.
        out: gets a folder for each student, an empty one where nothing was found.

    Raises:
        CollectError: the release cannot be read, or ``out`` cannot be written.
    """
    wanted = notebooks(release)
    counts, problems = dict.fromkeys(students, 0), []
    for student, home in students.items():
        if not is_name(student):
            problems.append(f"{student!r} is no name of a student: left out.")
            continue
        try:
            (out / student).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CollectError(f"{out} cannot be written ({error.strerror}): choose another folder.") from error
        for name in wanted:
            try:
                data, moment = _read(home, name)
            except FileNotFoundError:
                problems.append(f"{student} has no {name}.")
            except OSError as error:
                problems.append(f"{student}: {name} is not collected ({error.strerror or error}).")
            else:
                _write(out / student / name.name, data, moment)
                counts[student] += 1
    return Collected(counts, tuple(problems))


def _read(home: Path, name: PurePosixPath) -> tuple[bytes, float]:
    """The bytes of a file below a folder, and when it was saved."""
    with contextlib.ExitStack() as opened:
        folder = opened.enter_context(_descriptor(home, os.O_DIRECTORY))
        for part in name.parts[:-1]:
            folder = opened.enter_context(_descriptor(part, os.O_DIRECTORY, folder))
        # Opening a pipe would wait for a writer.
        file = opened.enter_context(_descriptor(name.name, os.O_NONBLOCK, folder))
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is no file")
        if status.st_size > FILE:
            raise OSError(f"it has more than the {FILE >> 20} MB that are graded: clear its outputs and save it")
        with os.fdopen(file, "rb", closefd=False) as reader:
            return reader.read(FILE), status.st_mtime


@contextlib.contextmanager
def _descriptor(path: str | Path, kind: int, folder: int | None = None) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | kind, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _write(target: Path, data: bytes, moment: float) -> None:
    """Replace the copy, with the time of the original: of two versions, the grader takes the one saved last."""
    try:
        target.write_bytes(data)
        os.utime(target, (moment, moment))
    except OSError as error:
        raise CollectError(f"{target} cannot be written ({error.strerror}): choose another folder.") from error
