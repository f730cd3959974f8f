"""The zip to upload as Gradescope's autograder: the grader itself, the assignment, and the two scripts it asks for.

Gradescope builds a container with ``setup.sh``, copies each submission into it and starts ``run_autograder``. That
container is the isolation there; ``README.md`` in the zip says what it does not protect.
"""

from __future__ import annotations

import json
from pathlib import Path

from classroom.assignment import Assignment
from classroom.handout import pins, release
from fxbook.learning.exercises import catalogue
from press import ROOT

PACKAGES = ("classroom", "fxbook")
_DATA = {".css", ".html", ".js", ".json", ".py", ".sh", ".svg"}
_SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, to build the container: Python 3.11 or newer, and what the grader imports.
set -euo pipefail
root="${AUTOGRADER_ROOT:-/autograder}"
# The address of PyTorch's CPU index makes a far smaller container; empty: the ordinary package.
TORCH_INDEX="${TORCH_INDEX:-}"

apt-get update
apt-get install -y --no-install-recommends bubblewrap libseccomp2
find_python() {
  for candidate in python3.13 python3.12 python3.11 python3; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
}
python="$(find_python)"
if [ -z "$python" ]; then
  apt-get install -y --no-install-recommends python3.11 python3.11-venv
  python="$(find_python)"
fi
"$python" -m venv "$root/venv"
cd "$root/source"
if [ -n "$TORCH_INDEX" ]; then
  "$root/venv/bin/pip" install --index-url "$TORCH_INDEX" --no-deps "$(grep '^torch==' requirements.txt)"
fi
"$root/venv/bin/pip" install -r requirements.txt
"""
_RUN = """\
#!/usr/bin/env bash
# Gradescope runs this for each submission; it writes results/results.json.
set -euo pipefail
root="${AUTOGRADER_ROOT:-/autograder}"
cd "$root/source"
exec "${AUTOGRADER_PYTHON:-$root/venv/bin/python}" -m classroom.exports.gradescope.inside "$root"
"""
_README = """\
# Autograder: {title}

Upload this zip to Gradescope as the autograder of a programming assignment. Students hand in the notebooks they were
given, under the names they have. Building the container takes a few minutes; in `setup.sh` you can name PyTorch's CPU
index, which makes it far smaller.

## What protects what

Gradescope starts a container for each submission and throws it away after it: no submission can see or harm another,
or anything of yours. Inside the container the grader uses its own sandbox where the container allows one. Most do not,
and then it runs the submission *trusted*, which means that the student's code

- runs with the rights of the grader, in the same container, and may use the network if Gradescope's container has one;
- cannot find the hidden variants or the assignment in a file, since these are deleted before it starts, but code
  written for that purpose can search the memory of the grader for them;
- could overwrite `results.json` by a process that it leaves behind.

To grade code that you do not trust that far, download the submissions and run `python -m classroom grade` on a machine
with bubblewrap: it takes Gradescope's export as it is.
"""


def make_autograder(assignment: Assignment, out: Path, *, force: bool = False) -> Path:
    """Write the autograder of an assignment; it holds the hidden variants, so it is for the teacher alone.

    Args:
        assignment: what is asked.
        out: the zip to write.
        force: replace it where it is there already.

    Raises:
        classroom.handout.release.ReleaseError: it is there already, or cannot be written.
    """
    release.write_zip(out, files(assignment), "", force=force, executable=("setup.sh", "run_autograder"))
    return out


def files(assignment: Assignment) -> dict[str, bytes]:
    """What the zip holds, by name."""
    extras = pins.extras_of(assignment.chapters)
    texts = {
        "README.md": _README.format(title=" ".join(assignment.title.split())),
        "assignment.toml": as_toml(assignment),
        "hidden.py": assignment.hidden,
        "requirements.txt": "\n".join(pins.needed("grading", "press", *extras)) + "\n",
        "run_autograder": _RUN,
        "setup.sh": _SETUP,
    }
    contents = {name: text.encode() for name, text in texts.items()}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            inside = path.relative_to(ROOT)
            hidden_folder = any(part.startswith((".", "__pycache__")) for part in inside.parts)
            if path.is_file() and path.suffix in _DATA and not hidden_folder:
                contents[inside.as_posix()] = path.read_bytes()
    return contents


def as_toml(assignment: Assignment) -> str:
    """The assignment as a teacher would write it, for :func:`classroom.assignment.load` beside ``hidden.py``."""
    ids = {about.id for about in assignment.exercises}
    book = [about for about in catalogue().values() if about.chapter in assignment.chapters]
    left_out = [about.id for about in book if about.id not in ids]
    lines = [
        f"title = {_quoted(assignment.title)}",
        f"chapters = [{', '.join(map(_quoted, assignment.chapters))}]",
        f"leave_out = [{', '.join(map(_quoted, left_out))}]",
        f"public_share = {assignment.public_share!r}",
        f"counts = {_quoted(assignment.counts)}",
        'hidden = "hidden.py"',
        "",
        "[points]",
        *(f"{_quoted(about.id)} = {assignment.points[about.id]!r}" for about in assignment.exercises),
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    # A string of JSON is one of TOML, but for this character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
