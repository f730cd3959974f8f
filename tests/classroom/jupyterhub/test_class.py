"""A class on a hub: each student has exercises, keeps them and reaches nobody else's; all are collected."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import psutil
import pytest
import requests

from classroom import assignment
from classroom.collect import submissions
from classroom.handout import release
from classroom.jupyterhub import place
from classroom.jupyterhub.collect import collect, homes
from press import ROOT
from tests.classroom.jupyterhub.students import LONGEST_SECONDS, Hub, Student, missing

NAMES = ("anna", "berta", "carl", "zoë b")
CHAPTER, EXERCISE = "01_node_creation", "01-six-opcodes"
NOTEBOOK = f"week-1/exercises/{CHAPTER}.ipynb"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hub's folder, with one release."""
    root = tmp_path_factory.mktemp("hub")
    where = place.Place(root / "class")
    where.make()
    where.passwords.write_text("{}")
    release.make(assignment.of_chapters(["01"], "Week 1"), where.releases / "week1.zip")
    return where.root


@pytest.fixture(scope="module")
def hub(folder: Path) -> Iterator[Hub]:
    """A hub that runs; when it has ended, no process of it is left."""
    if reason := missing(folder):
        pytest.skip(reason)
    hub = Hub(folder, folder.with_name("hub.log"))
    process = psutil.Process(hub.process.pid)
    try:
        hub.wait()
        yield hub
    finally:
        family = process.children(recursive=True)
        process.terminate()
        try:
            process.wait(LONGEST_SECONDS)
        finally:
            survivors = psutil.wait_procs(family, timeout=LONGEST_SECONDS)[1]
            for survivor in (process, *survivors):
                if survivor.is_running():
                    survivor.kill()
        assert survivors == []


@pytest.fixture(scope="module")
def students(hub: Hub) -> dict[str, Student]:
    """The class, all of whom start at once."""
    everybody = {name: hub.student(name) for name in NAMES}
    with ThreadPoolExecutor() as pool:
        list(pool.map(Student.start, everybody.values()))
    return everybody


@pytest.fixture(scope="module")
def handed_in(students: dict[str, Student]) -> dict[str, str]:
    """What each student has written and saved, after a check; what the check said."""
    solution = _cell(nbformat.read(ROOT / "solutions" / f"{CHAPTER}.ipynb", as_version=4))

    def work(student: Student) -> str:
        notebook = student.opens(NOTEBOOK)
        cell = _cell(notebook)
        if student.name != "berta":
            cell["source"] = f"{solution['source']}\n# {student.name}\n"
        imports, report = student.runs(
            "week-1/exercises",
            "import torch, fxbook\nfrom torch import fx, nn\nfrom fxbook import check\nfxbook.__file__",
            f"{cell['source']}\ncheck({EXERCISE!r}, six_opcodes)",
        )
        assert imports == "'/book/fxbook/__init__.py'"
        student.saves(NOTEBOOK, notebook)
        return report

    with ThreadPoolExecutor() as pool:
        return dict(zip(students, pool.map(work, students.values()), strict=True))


def _cell(notebook: dict) -> dict:
    return next(cell for cell in notebook["cells"] if cell["id"] == f"{EXERCISE}-code")


def test_every_student_checks_and_saves_an_answer(handed_in: dict[str, str]) -> None:
    for name, report in handed_in.items():
        verdict = "not yet" if name == "berta" else "public checks passed"
        assert f"{EXERCISE} " in report and verdict in report, name


def test_nobody_reaches_what_is_another_students(students: dict[str, Student], folder: Path) -> None:
    anna, berta = students["anna"], students["berta"]
    for path in (f"api/contents/{NOTEBOOK}", "api/kernels", "lab", f"files/{NOTEBOOK}"):
        assert anna.asks("GET", anna.server + path).status_code == 200
        # A 302 leads a browser to the login.
        assert berta.asks("GET", anna.server + path).status_code in (302, 403)
    assert berta.asks("POST", anna.server + "api/kernels", json={"name": "python3"}).status_code == 403
    assert berta.asks("PUT", f"{anna.server}api/contents/{NOTEBOOK}", json={"type": "file"}).status_code == 403
    hub = f"{anna.hub.url}/hub/api/users"
    assert berta.asks("GET", hub).status_code == 403
    assert berta.asks("DELETE", f"{hub}/anna/server").status_code in (403, 404)
    assert berta.asks("POST", f"{hub}/anna/tokens").status_code in (403, 404)
    assert requests.get(anna.server + "api/contents", allow_redirects=False).status_code in (302, 403)


def test_a_kernel_sees_one_folder_and_no_solution(students: dict[str, Student], folder: Path) -> None:
    of_the_book = [ROOT / name for name in ("book", "classroom", "solutions", "tests", ".git")]
    private = [folder, folder.parent, *of_the_book, "/etc/passwd"]
    code = f"""
import glob, importlib.util, json, os
print(os.listdir("/home"), os.getcwd(), [p for p in {[str(path) for path in private]} if os.path.exists(p)])
print(importlib.util.find_spec("classroom"), os.environ.get("A_SECRET"), os.environ.get("FXBOOK_HUB_PASSWORD"), end=" ")
print(os.environ["FXBOOK_PATIENCE"])
print(sorted(int(p) for p in os.listdir("/proc") if p.isdigit())[:1], os.getuid() == {os.getuid()})
for where in ("/", "/usr", "/book", "/book/fxbook", "/releases", os.path.dirname(importlib.util.__file__)):
    try:
        open(where + "/mark", "w")
        print("wrote in", where)
    except OSError:
        pass
for file in glob.glob(os.environ["JUPYTER_RUNTIME_DIR"] + "/kernel-*.json"):
    print(json.load(open(file))["transport"])
"""
    [output] = students["carl"].runs("week-1/exercises", code)
    visible, environment, processes, *rest = output.strip().splitlines()
    assert visible == "['carl'] /home/carl/week-1/exercises []"
    assert environment == "None None None 8.0"
    # As root the hub gives each student a user id.
    assert processes == f"[1] {os.getuid() != 0}"
    # No place that could be written to; and others on the machine cannot listen to what a kernel says.
    assert rest == ["ipc"]


def test_a_process_has_no_more_memory_than_its_limit(students: dict[str, Student]) -> None:
    room, none = students["carl"].runs("", "len(bytearray(1 << 30))", "len(bytearray(3 << 30))")
    assert (room, none.partition(":")[0]) == (str(1 << 30), "MemoryError")


def test_a_server_has_no_page_for_teachers(students: dict[str, Student]) -> None:
    assert students["carl"].asks("GET", f"{students['carl'].server}formgrader").status_code == 404


def test_only_who_is_listed_and_has_the_password_logs_in(hub: Hub, folder: Path) -> None:
    from classroom.jupyterhub.passwords import issue  # Needs JupyterHub.

    def logs_in(name: str, password: str) -> bool:
        with requests.Session() as browser:
            page = browser.get(f"{hub.url}/hub/login", timeout=LONGEST_SECONDS)
            form = {"username": name, "password": password, "_xsrf": browser.cookies["_xsrf"]}
            answer = browser.post(page.url, data=form, timeout=LONGEST_SECONDS, allow_redirects=False)
            return answer.status_code == 302 and "jupyterhub-hub-login" in {cookie.name for cookie in browser.cookies}

    # While the hub runs: a class grows.
    where = place.Place(folder)
    passwords = issue(where.passwords, ["dora", "emil"])
    (folder / "students.txt").write_text("dora\n")
    assert logs_in("Dora", f" {passwords['dora'].upper()} ")
    assert (
        not logs_in("dora", "") and not logs_in("dora", passwords["emil"]) and not logs_in("nobody", passwords["dora"])
    )
    assert not logs_in("emil", passwords["emil"])
    (folder / "students.txt").write_text("emil\n")
    assert logs_in("emil", passwords["emil"]) and not logs_in("dora", passwords["dora"])


def test_work_outlives_the_server_and_a_newer_release(
    students: dict[str, Student], handed_in: dict[str, str], folder: Path
) -> None:
    anna, before = students["anna"], students["anna"].opens(NOTEBOOK)
    anna.stop()
    newer = folder / "releases" / "week1.zip"
    with zipfile.ZipFile(newer, "a") as archive:
        archive.writestr("week-1/exercises/more.md", "one more thing")
    release.make(assignment.of_chapters(["02"], "Week 2"), folder / "releases" / "week2.zip")
    anna.start()
    assert anna.opens(NOTEBOOK) == before
    assert "# anna" in _cell(before)["source"]
    assert anna.opens("week-1/exercises/more.md") == "one more thing"
    assert anna.opens("week-2/exercises/02_insertion_points.ipynb")["cells"]


def test_all_answers_are_collected(handed_in: dict[str, str], folder: Path, tmp_path: Path) -> None:
    where = place.Place(folder)
    collected = collect(where.releases / "week1.zip", homes(where), tmp_path / "handed in")
    assert collected.notebooks == dict.fromkeys(NAMES, 1) and collected.problems == ()
    all_submissions = submissions.find(tmp_path / "handed in", assignment.of_chapters(["01"]))
    assert sorted(submission.student for submission in all_submissions) == sorted(NAMES)
    for submission in all_submissions:
        assert submission.problems == {} and (f"# {submission.student}".encode() in submission.sheets[CHAPTER]) == (
            submission.student != "berta"
        )
