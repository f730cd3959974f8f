"""Files are read within limits: nothing is unpacked, no link is followed, and no student affects another."""

from __future__ import annotations

import io
import os
import random
import stat
import zipfile
from pathlib import Path

import pytest

from classroom.collect import files, submissions
from classroom.tests.collect.folders import ASSIGNMENT, OTHER, SHEET, THREE, TWO, by_student, only, put, zip_of

# ---- zips ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("top", ["", "week 2 submissions/", "submitted/"])
@pytest.mark.parametrize("saved_in_a_folder", [False, True])
def test_zip_of_a_class_is_read(tmp_path: Path, top: str, saved_in_a_folder: bool) -> None:
    inner = zip_of({f"my homework/{TWO}.ipynb": SHEET})
    archive = zip_of({
        f"{top}Müller Anna_1_assignsubmission_file_/{TWO}.ipynb": SHEET,
        f"{top}Li Wei_2_assignsubmission_file_/homework.zip": inner,
        f"{top}Kim_3_assignsubmission_file_\\{TWO}.ipynb": SHEET,
    })  # fmt: skip
    place = put(tmp_path, ("class.zip", archive)) / "class.zip"
    students = by_student(tmp_path if saved_in_a_folder else place)
    assert {name: dict(submission.sheets) for name, submission in students.items()} == {
        name: {TWO: SHEET} for name in ("Müller Anna", "Li Wei", "Kim")
    }


BAD_NAMES = ["../../escaped.ipynb", "/etc/escaped.ipynb", "C:\\escaped.ipynb", "..\\escaped.ipynb", "a/../../b.ipynb"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_path_out_of_a_zip_is_refused(tmp_path: Path, name: str) -> None:
    submission = only(put(tmp_path, ("anna/homework.zip", zip_of({name: SHEET}))))
    assert submission.sheets == {} and files.LEADS_OUT in submission.problems[TWO]
    assert [path.name for path in tmp_path.rglob("*")] == ["anna", "homework.zip"], "nothing is unpacked"
    good = put(tmp_path, ("class.zip", zip_of({name: SHEET, f"ben/{TWO}.ipynb": SHEET}))) / "class.zip"
    assert list(by_student(good)) == ["ben"]


def bomb_of_many() -> bytes:
    return zip_of({f"{number}.ipynb": b"" for number in range(files.FILES + 1)})


def bomb_of_zeros() -> bytes:
    return zip_of({f"{number}.ipynb": bytes(8 << 20) for number in range(14)})


def bomb_that_lies() -> bytes:
    """Claims to hold ten bytes, but holds 64 MB."""
    data = bytearray(zip_of({f"{TWO}.ipynb": bytes(64 << 20)}))
    at = data.index(b"PK\1\2")
    data[at + 24 : at + 28] = data[22:26] = (10).to_bytes(4, "little")
    return bytes(data)


def nested() -> bytes:
    data = SHEET
    for number in range(4):
        data = zip_of({f"{number}.zip" if number else f"{TWO}.ipynb": data})
    return data


def locked() -> bytes:
    data = bytearray(zip_of({f"{TWO}.ipynb": SHEET}))
    data[data.index(b"PK\1\2") + 8] |= 1
    return bytes(data)


def link() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        info = zipfile.ZipInfo(f"{TWO}.ipynb")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    return data.getvalue()


def other_method() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr(f"{TWO}.ipynb", SHEET)
    return data.getvalue()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (bomb_of_many, "holds more than 2000 files"),
        (bomb_of_zeros, "would unpack to 112 MB"),
        (bomb_that_lies, "cannot be read"),
        (nested, "is a zip in a zip in a zip"),
        (locked, "is protected by a password"),
        (link, "is a link or a device in a zip"),
        (other_method, "uses an unsupported compression"),
        (lambda: b"PK\3\4 rubbish", "is a damaged zip"),
        (lambda: zip_of({f"{TWO}.ipynb": SHEET})[:-30], "is a damaged zip"),
        (lambda: b"", "is a damaged zip"),
    ],
)
def test_bad_zip_affects_only_its_student(tmp_path: Path, make, says: str) -> None:
    students = by_student(put(tmp_path, ("anna/homework.zip", make()), (f"ben/{TWO}.ipynb", SHEET)))
    assert students["anna"].sheets == {} and says in students["anna"].problems[TWO]
    assert students["ben"].sheets == {TWO: SHEET}


def test_damaged_zips_are_refused() -> None:
    draw = random.Random(5)
    archives = [zip_of({f"a/{TWO}.ipynb": SHEET, "b/c.ipynb": b"x" * 3000}), nested(), locked(), link()]
    refused = 0
    for _ in range(400):
        data = bytearray(draw.choice(archives))
        for _ in range(draw.randint(1, 6)):
            # Readers take most of their information from the two ends.
            place = draw.choice([draw.randrange(60), -1 - draw.randrange(150), draw.randrange(len(data))])
            data[place] ^= draw.randrange(256)
        entry = files.Entry(("x.zip",), len(data), 0.0, lambda _, data=bytes(data): data)
        for inner in files.opened(entry):
            try:
                assert len(inner.read()) <= files.FILE
            except files.RefusedError as problem:
                refused += 1
                assert "\n" not in str(problem)
    assert refused > 100


def test_damaged_zip_of_a_class_is_reported(tmp_path: Path) -> None:
    (tmp_path / "class.zip").write_bytes(b"PK\3\4 rubbish")
    with pytest.raises(submissions.SubmissionsError, match="is a damaged zip"):
        submissions.find(tmp_path / "class.zip", ASSIGNMENT)


# ---- links, pipes and large files ------------------------------------------------------------------------------------


def test_links_and_pipes_are_never_read(tmp_path: Path) -> None:
    secret = put(tmp_path / "outside", (f"{TWO}.ipynb", SHEET))
    home = put(tmp_path / "class", (f"anna/{THREE}.ipynb", OTHER))
    (home / "anna" / f"{TWO}.ipynb").symlink_to(secret / f"{TWO}.ipynb")
    (home / "ben").symlink_to(secret)
    (home / "carl").mkdir()
    (home / "carl" / "folder").symlink_to(secret)
    os.mkfifo(home / "carl" / f"{TWO}.ipynb")
    students = by_student(home)
    assert all(TWO not in submission.sheets for submission in students.values())
    assert "is a link" in students["anna"].problems[TWO] and "is a link" in students["ben"].problems[TWO]
    assert "is not a file" in students["carl"].problems[TWO]


def test_large_file_is_not_read(tmp_path: Path) -> None:
    with (put(tmp_path, f"ben/{TWO}.ipynb") / "large.ipynb").open("wb") as file:
        file.truncate(200 << 20)
    assert "large.ipynb has 200 MB, more than the limit of 10 MB" in by_student(tmp_path)["large"].problems[TWO]


def test_number_of_files_is_limited(tmp_path: Path) -> None:
    put(tmp_path, *((f"anna/{number:04}.ipynb", b"{}") for number in range(300)), (f"anna/zz {TWO}.ipynb", SHEET))
    assert "is one of too many files" in only(tmp_path).problems[TWO]
