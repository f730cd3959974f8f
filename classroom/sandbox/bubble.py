"""Start processes in bubblewrap, decide what they see of this machine, and check whether bubblewrap works here."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from classroom.sandbox import bwrap, calls, groups
from classroom.sandbox.groups import Group

HALF = "/book"
_INSIDE = Path(__file__).parent / "inside"
UNPROTECTED = (
    "Without it, a submission runs with your rights: it can read your files, the other submissions and the hidden "
    "variants, change or delete what you can, use the network, and leave processes behind. `--trusted` accepts that; "
    "then only time and memory are limited."
)
_OWN_PACKAGES = ("fxbook", "classroom", "press")
_NEEDED = ("torch", "numpy", "matplotlib", "graphviz", "msgspec", "jupytext", "nbformat")
_FROM_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime")
# Each file that is copied into a bubble is open while the bubble starts.
_OPEN_FILES = 1024
_DEVICES = ("null", "zero", "full", "random", "urandom")
# The warm process needs these to confine its forks, and to read Python's files as root.
_CAPABILITIES = ("CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_KILL", "CAP_DAC_READ_SEARCH")
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "USER": "student",
    "LOGNAME": "student",
    # Threads of a pool do not survive a fork.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


class SandboxError(Exception):
    """Submissions cannot be run safely; the message says why and what to do."""


@dataclasses.dataclass(frozen=True)
class Protection:
    """The gaps in this machine's protection.

    Args:
        missing: for each gap, one sentence that gives the reason.
        refusal: why there is no sandbox and what to do, or ``""``.
    """

    missing: tuple[str, ...]
    refusal: str = ""


@functools.cache
def protection() -> Protection:
    """Try an empty sandbox without torch and report the gaps; takes a tenth of a second."""
    refusal, findings = _try()
    if refusal:
        return Protection((f"{refusal} {UNPROTECTED}",), refusal)
    missing = []
    if not findings["user"]:
        missing.append(
            "Submissions run under your own user id, in a namespace where it owns nothing visible, because an ordinary "
            "user cannot assign another id. Your files are protected only because they are not mounted there. For a "
            "second layer, grade as a user of this machine who owns nothing else."
        )
    if not groups.is_available():
        missing.append(
            "Memory is limited for each submission's process and for its files, not for both together: only root, or "
            "the systemd of your session, can create a control group."
        )
    if findings["groups"]:
        missing.append("Submissions keep your groups, which only root can leave; none of their files is mounted there.")
    return Protection(tuple(missing))


def _try() -> tuple[str, dict[str, bool]]:
    if not sys.platform.startswith("linux"):
        return "The sandbox needs Linux: grade on a Linux machine, in WSL 2 or in a container.", {}
    if not shutil.which("bwrap"):
        return f"bubblewrap, which isolates submissions from your machine, is not installed: {bwrap.INSTALL}.", {}
    if (most := _raise_open_files()) < _OPEN_FILES:
        return f"The sandbox opens up to {_OPEN_FILES} files at once, but `ulimit -Hn` allows only {most}.", {}
    try:
        program = calls.program()
    except calls.NoFilterError as problem:
        return f"Submissions are not run without a system-call filter: {problem}.", {}
    inside: dict[str, str | bytes] = {
        f"inside/{path.name}": path.read_text(encoding="utf-8") for path in _INSIDE.glob("*.py")
    }
    inside["inside/calls.bpf"] = program
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        try:
            status = start(inside, "from inside.probe import main; main()", stdout=out, stderr=errors).wait(60)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"bubblewrap does not run here ({error}).", {}
        printed, messages = (_text(file).strip().splitlines() for file in (out, errors))
    if status:
        reason = messages[-1] if messages else f"it ended with status {status}"
        return f"bubblewrap does not work here ({reason}). {_what_to_do()}", {}
    findings = json.loads(printed[-1])
    if "refused" in findings:
        return (
            f"This machine's kernel does not allow what the sandbox needs: {findings['refused']}. {_what_to_do()}",
            {},
        )
    if findings["closed"]:
        folders = " ".join(str(Path(file).parent) for file in findings["closed"])
        return f"Submissions run as another user, who cannot read Python's files: run `chmod -R o+rX {folders}`.", {}
    if not findings["stopped"]:
        return "In this machine's sandbox, a submission could start processes, write files or use the network.", {}
    return "", findings


def _raise_open_files() -> int:
    """Allow this process as many open files as the sandbox needs, or as many as it may; return how many it may open."""
    import resource  # Windows does not have it, and no sandbox.

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(_OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return most


def _what_to_do() -> str:
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return (
            "Containers prevent bubblewrap from creating namespaces: grade on the machine itself. Or start the "
            "container as a user other than root and with what bubblewrap needs, which we have not tried: for Docker "
            "`--security-opt` with each of `seccomp=unconfined`, `apparmor=unconfined` and `systempaths=unconfined`, "
            "for Podman without root `--security-opt unmask=ALL`."
        )
    if Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").exists() and os.geteuid():
        return (
            "Ubuntu restricts user namespaces: allow them with "
            "`sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`."
        )
    return (
        "Allow user namespaces: `sysctl user.max_user_namespaces` must be above 0 and, if there is such a "
        "setting, `sysctl kernel.unprivileged_userns_clone` must be 1."
    )


def start(
    files: Mapping[str, str | bytes],
    program: str,
    *arguments: str,
    keep: int | None = None,
    group: Group | None = None,
    stdout: IO[bytes],
    stderr: IO[bytes],
) -> subprocess.Popen[bytes]:
    """Run a Python program in a new bubble.

    Everything is read-only except ``$TMPDIR``, a folder of its own. The bubble contains the system's programs and
    libraries, Python and its installed packages, but not the book's packages, personal files, or a checkout of the
    book.

    Args:
        files: content by path, importable by the program; copies, so nothing is left behind.
        program: Python code.
        keep: a file descriptor for the program.
        group: limits the resources of the whole bubble.
    """
    _raise_open_files()
    with contextlib.ExitStack() as opened:
        options: list[str] = []
        for folder in bwrap.above(Path(HALF, path) for path in files):
            options += ["--dir", folder]
        numbers = [] if keep is None else [keep]
        for path, content in files.items():
            file = opened.enter_context(tempfile.TemporaryFile())
            file.write(content.encode() if isinstance(content, str) else content)
            file.seek(0)
            numbers.append(file.fileno())
            options += ["--perms", "0444", "--file", str(file.fileno()), f"{HALF}/{path}"]
        command = [*_command(options, program), *arguments]
        return subprocess.Popen(
            group.around(command) if group else command,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            pass_fds=numbers,
            env=_environment(),
        )


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _environment() -> dict[str, str]:
    place = _scratch(_shown())
    return {**_ENVIRONMENT, "HOME": place, "TMPDIR": place, "MPLCONFIGDIR": place}


def _command(copied: list[str], program: str) -> list[str]:
    bubble = [*bwrap.opening(*_CAPABILITIES), "--new-session", "--clearenv", "--unshare-net", "--hostname", "sandbox"]
    if os.geteuid():
        # Not for root: RLIMIT_NPROC does not limit root in a user namespace.
        bubble += ["--unshare-user"]
    for name, value in _environment().items():
        bubble += ["--setenv", name, value]
    bubble += [*bwrap.system(), "--dir", "/etc", "--dir", "/dev"]
    for name in _FROM_ETC:
        bubble += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    for name in _DEVICES:
        bubble += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    shown = _shown()
    scratch = _scratch(shown)
    bubble += _python(shown)
    bubble += [*copied, "--proc", "/proc", "--size", str(64 << 20), "--tmpfs", scratch]
    bubble += ["--remount-ro", "/", "--chdir", scratch]
    begin = f"import sys; sys.path[:] = [{HALF!r}, *{_search_path()!r}]; {program}"
    return [*bubble, "--", sys.executable, "-I", "-B", "-c", begin]


def _shown() -> set[Path]:
    shown = {Path("/usr"), *(Path(p) / part for p in _prefixes() for part in ("bin", "lib", "lib64", "pyvenv.cfg"))}
    shown |= {Path(place) for place in _search_path() if Path(place).is_dir()}
    return {place for place in shown if place.exists()}


def _scratch(shown: set[Path]) -> str:
    """The folder for a submission's files: ``/tmp``, unless Python is installed in it."""
    return "/student" if any(Path("/tmp") in place.parents for place in shown) else "/tmp"


def _python(shown: set[Path]) -> list[str]:
    """Options that show these folders and hide the book's own, outer folders first."""
    hidden = {folder for folder in _own_folders() if any(place in folder.parents for place in shown)}
    options: list[str] = []
    for folder in bwrap.above(shown):
        options += ["--dir", folder]
    for place in sorted(shown | hidden, key=lambda place: len(place.parts)):
        if place in hidden:
            options += ["--tmpfs", str(place), "--remount-ro", str(place)]
        elif place.is_symlink():
            options += ["--symlink", str(place.readlink()), str(place)]
        elif not any(outer in place.parents for outer in shown if not _hides(hidden, outer, place)):
            options += ["--ro-bind", str(place), str(place)]
    return options


def _hides(hidden: set[Path], outer: Path, inner: Path) -> bool:
    """Whether a hidden folder lies between the two, so that the inner one needs its own mount."""
    return any(outer in folder.parents and (folder in inner.parents or folder == inner) for folder in hidden)


def _prefixes() -> set[str]:
    home = str(Path(sys.executable).resolve().parent.parent)
    return {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, home}


def _search_path() -> list[str]:
    """Python's own modules and the packages that answers need, but not the grader's folder."""
    standard = [place for place in sys.path if Path(place).name.startswith(("python3", "lib-dynload"))]
    specs = (importlib.util.find_spec(name) for name in _NEEDED)
    packages = [str(Path(spec.origin).parent.parent) for spec in specs if spec and spec.origin]
    return list(dict.fromkeys([*standard, *packages]))


def _own_folders() -> set[Path]:
    folders = set()
    for name in _OWN_PACKAGES:
        spec = importlib.util.find_spec(name)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            root = Path(place).parent
            folders.add(root if (root / "pyproject.toml").exists() else Path(place))
    return folders
