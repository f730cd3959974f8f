"""The reports: what students and teacher read, and what they must not see."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from docutils.nodes import make_id

from classroom import reports
from classroom.grade.records import UNSEEN, Mark
from classroom.reports.figures import LARGEST, MOST_EDGES, Figures
from classroom.reports.ideas import wrong_ideas
from classroom.reports.wording import link, shown
from classroom.tests.marks import an_assignment, failed, mark, marks_of
from fxbook.catalogue import catalogue, place

BOOK = "https://book.example/fx/"


def page_of(folder: Path, key: str = "") -> BeautifulSoup:
    path = folder / (f"students/{key}/report.html" if key else "class.html")
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def words(part: Any) -> str:
    return " ".join(part.get_text(" ").split())


def a_mark(**fields: Any) -> Mark:
    """A failing mark for the first exercise of chapter 02."""
    first = mark(an_assignment(), 0, 0)
    plain = {"status": "failed", "points": 0.0, "rule": "lints", "message": "Node `x` uses itself.", "unproven": ()}
    return dataclasses.replace(first, **{**plain, "node": "", "line": "", "graph": None, **fields})


def node(name: str, index: int = 0, **fields: Any) -> dict[str, Any]:
    plain = {"op": "call_function", "target": "torch.relu", "kind": None, "call": f"torch.relu({name})", "scope": ""}
    lists: dict[str, Any] = {"args": {"tuple": []}, "kwargs": {"dict": []}, "inputs": [], "users": []}
    return {"index": index, "name": name, **plain, **lists, "notes": [], "faults": [], **fields}


def graph_of(*nodes: dict[str, Any]) -> dict[str, Any]:
    return {"nodes": list(nodes), "lint": None, "stale": False}


def told(folder: Path, *marks: Mark, hidden: bool = False) -> tuple[str, str, str]:
    """The first student's report, the teacher's list *To look at*, and the summary."""
    summary = reports.write(folder, an_assignment(hidden=hidden), marks)
    look = page_of(folder).find(id="look")
    return words(page_of(folder, marks[0].key)), words(look) if look else "", summary


# ---- the student's report --------------------------------------------------------------------------------------------


def test_failed_exercise_shows_message_node_and_section(tmp_path: Path) -> None:
    assignment = an_assignment()
    at = next(at for at, about in enumerate(assignment.exercises) if about.id == "02-put-in-order")
    failure = next(failure for failure in failed("02-put-in-order") if failure["node"] and failure["graph"])
    wrong = mark(assignment, 0, at, status="failed", points=0.0, **{**failure, "line": "node = nodes[-1]"})
    reports.write(tmp_path, assignment, [wrong], book=BOOK)
    section = page_of(tmp_path, "student-000").find(id="02-put-in-order")
    text = words(section)
    assert "Not yet" in text and "0 of 2 points" in text and "In your code: node = nodes[-1]" in text
    assert failure["message"].replace("`", "") in re.sub(r" (?=[,.:;])", "", text)
    assert f"node {failure['node']} is at fault" in text and 'hint("02-put-in-order")' in text
    assert failure["node"] in words(section.find("svg").find("g", class_="fx-broken"))
    [read] = [a for a in section.find_all("a") if a["href"].startswith(BOOK)]
    assert words(read) == place(failure["read"]) and read["href"] == link(BOOK, failure["read"])


@pytest.mark.parametrize("hidden", [False, True])
def test_passed_exercise_mentions_public_checks_and_what_if(tmp_path: Path, hidden: bool) -> None:
    text, *_ = told(tmp_path, a_mark(status="passed", points=1.0, rule="", message=""), hidden=hidden)
    assert "Public checks passed" in text and ("no hidden variant fails" in text) == ("hidden" in text) == hidden
    assert an_assignment().exercises[0].what_if.split("`")[0].strip() in text


def test_student_report_reveals_no_hidden_variant(tmp_path: Path) -> None:
    secret = "SECRETVARIANT"
    graph = graph_of(node(secret))
    secrets = dict.fromkeys(("message", "for_teacher", "node", "line", "remark", "source", "plain"), secret)
    pages = set()
    for rule, read in (("no_dead_nodes", "02_insertion_points#replace-uses-without-a-cycle"), ("lints", "06_kwargs")):
        hidden = a_mark(status="public", rule=rule, read=read, graph=graph, unproven=(secret,), **secrets)
        reports.write(tmp_path, an_assignment(hidden=True), [hidden])
        page = page_of(tmp_path, "student-000")
        pages.add(str(page))
        assert secret not in str(page) and "SEEDS" not in str(page)
        assert "Public checks passed; a hidden variant fails" in words(page)
        assert UNSEEN in words(page) and "Read:" not in words(page.find(id=hidden.exercise))
        assert secret in words(page_of(tmp_path)) and rule.replace("_", " ") in words(page_of(tmp_path))
    assert len(pages) == 1, "whichever property does not hold, the page is the same"


def test_version_and_penalty_are_reported(tmp_path: Path) -> None:
    version = "<b>2</b>.ipynb, the second of 3 versions: the last in which it was begun"
    note = "Its file was saved 2 days after it was due."
    late = a_mark(version=version, attempts=3, late_days=2, penalty=0.5, late_note=note)
    one = mark(an_assignment(), 1, 0, attempts=1, version="02.ipynb")
    text, look, _ = told(tmp_path, late, one)
    assert f"Counted: {version}." in text and "2 days late; points deducted: 0.5." in text
    assert note not in text and "Possibly late (1)" in look and note in look, "a doubt is for the teacher"
    assert "Counted" not in words(page_of(tmp_path, one.key)), "there was one"


def test_student_report_mentions_nobody_else(tmp_path: Path) -> None:
    assignment = an_assignment(hidden=True)
    reports.write(tmp_path, assignment, marks_of(assignment, 12))
    page = page_of(tmp_path, "student-001")
    assert words(page.h1) == "王 小明"
    foreign = ("Amélie", "احمدی", "Nguyễn", "Olena", "García", "student-0", "class.html")
    assert [text for text in foreign if text in str(page)] == []


def test_grader_errors_cost_nothing(tmp_path: Path) -> None:
    broken = a_mark(status="error", message="", for_teacher="OSError: disk full")
    text, look, _ = told(tmp_path, broken, mark(an_assignment(), 0, 1, status="passed", points=2.0, out_of=2.0))
    assert "2 of 2 points" in text and "Not graded yet" in text
    assert "disk full" not in text and "OSError: disk full" in look


# ---- the class report ------------------------------------------------------------------------------------------------


def test_marks_are_grouped_ignoring_names() -> None:
    assignment = an_assignment()
    graph = graph_of(node("up"), node("x", 1), node("mul", 2), node("y", 3))
    message = "The graph is broken: node `{}` uses {} before it is defined."
    alike = [("up", "x"), ("up", "x"), ("mul", "y")]
    marks = [a_mark(key=str(i), message=message.format(*names), graph=graph) for i, names in enumerate(alike)]
    marks += [a_mark(key="3", rule="recompiled", message="The compiled code is stale.")]
    marks += [a_mark(key="4", status="public", message=message.format("up", "x"), graph=graph)]
    # Differences that have nothing to do with the mistake.
    marks = [
        dataclasses.replace(mark, for_teacher=f"{mark.message} Seed {i}. x{i}.ipynb") for i, mark in enumerate(marks)
    ]
    most, *others = wrong_ideas(assignment.exercises, marks)
    assert (len(most.marks), most.tried, most.rule, most.hidden) == (3, 5, "lints", False)
    assert most.message == "The graph is broken: node `…` uses … before it is defined."
    assert [mark.key for mark in most.examples] == ["0"]
    assert sorted((len(idea.marks), idea.rule, idea.hidden) for idea in others) == [
        (1, "lints", True),
        (1, "recompiled", False),
    ]
    assert next(idea for idea in others if idea.hidden).message == message.format("up", "x") + " x4.ipynb"


def test_sections_are_sorted_by_students_helped(tmp_path: Path) -> None:
    few, many = "02_insertion_points#two-nodes-one-anchor", "02_insertion_points#a-new-node-needs-a-user"
    marks = [a_mark(key=f"a{i}", read=few, message="First.") for i in range(3)]
    marks += [a_mark(key=f"b{i}", read=many, message="Second.", rule=f"rule_{i}") for i in range(4)]
    summary = reports.write(tmp_path, an_assignment(), marks, book=BOOK)
    headings = page_of(tmp_path).find(id="again").find_all("h3")
    assert [a["href"] for heading in headings for a in heading.find_all("a")] == [link(BOOK, many), link(BOOK, few)]
    assert summary.index(f"1. {place(many)}: 4 students") < summary.index(f"2. {place(few)}: 3 students")
    assert f"exercises that nobody passes: {1}" in summary and summary == reports.summary(an_assignment(), marks)


def test_numbers_of_an_exercise(tmp_path: Path) -> None:
    assignment = an_assignment(hidden=True)
    kinds = [("passed", 1), ("passed", 3), ("public", 5), ("failed", 4), ("failed", 9), ("missing", 0), ("error", 1)]
    marks = [a_mark(key=str(i), status=kind, attempts=many) for i, (kind, many) in enumerate(kinds)]
    reports.write(tmp_path, assignment, marks)
    page = page_of(tmp_path)
    article = page.find("article", id=assignment.exercises[0].id)
    assert "43 % of all, 60 % of those who handed it in" in words(article)
    assert "median: 3 where it passed, 6.5 where it did not" in words(article)
    bar = article.find("svg")["aria-label"]
    assert bar == "2 passed, 1 public checks only, 2 not yet, 1 nothing handed in, 1 not graded yet"
    first = [words(row.find_all("td")[2]) for row in page.find("table", class_="heat").tbody.find_all("tr")]
    assert first == ["✓", "✓", "◐", "✗", "✗", "\N{EN DASH}", "…"]


def test_stuck_students_are_sorted_by_share_of_begun_points(tmp_path: Path) -> None:
    # (passed, begun) for each student. Zoe has the most versions and points; Gus has handed in nothing.
    did = {"Zoe": (6, 6), "Ada": (0, 6), "Bea": (2, 6), "Cid": (0, 6), "Dan": (1, 6), "Eve": (2, 3), "Gus": (0, 0)}
    did |= {f"Pat {number}": (6, 6) for number in range(8)}
    marks = [
        a_mark(
            key=name, student=name, exercise=about.id, attempts=7 if name in ("Bea", "Zoe") else 1, out_of=1.0,
            points=float(at < passed), status="passed" if at < passed else "failed" if at < begun else "missing",
        )
        for name, (passed, begun) in did.items()
        for at, about in enumerate(an_assignment().exercises)
    ]  # fmt: skip
    reports.write(tmp_path, an_assignment(), marks)
    rows = page_of(tmp_path).find(id="stuck").tbody.find_all("tr")
    assert [words(row.th) for row in rows] == ["Ada", "Cid", "Dan", "Bea"]
    assert "passes none of 6 exercises begun" in words(rows[0]) and "fails what most pass" in words(rows[0])
    assert words(rows[-1].td) == "2 of 6" and "7 versions handed in" in words(rows[-1])


def test_python_trouble_is_listed_separately(tmp_path: Path) -> None:
    undefined, ended = "`x` could not be defined. Cell 2 raises ", "Your code raises "
    python = {
        f"{ended}NameError: name 'grph' is not defined.": "An undefined name",
        "Your code was still running when time ran out: it may loop for ever.": "in time",
        f"{ended}MemoryError.": "More memory",
        "Your code ended the Python process (os._exit or the like).": "Code that exits Python",
        f"{undefined}IndentationError: unexpected indent": "not Python",
        f"{undefined}ModuleNotFoundError: No module": "An import that fails",
        f"{undefined}ZeroDivisionError: x": "above the answer that raises an error",
    }
    marks = [
        a_mark(key=f"{at}-{number}", rule="answered" if message.startswith(undefined) else "ends well", message=message)
        for at, message in enumerate(python)
        for number in range(3)
    ]
    fact = "RuntimeError: Tried to erase Node add but it still had 1 users."
    marks.append(a_mark(key="a", rule="ends well", message=ended + fact))
    marks.append(a_mark(key="b", message="Node `x` uses itself. Cell 9 raises NameError: name 'y' is not defined"))
    marks.append(a_mark(key="c", status="public", rule="ends well", for_teacher=f"Hidden seed 1: {next(iter(python))}"))
    summary = reports.write(tmp_path, an_assignment(), marks)
    again, apart = (words(page_of(tmp_path).find(id=name)) for name in ("again", "python"))
    assert all(message.split(":")[0].replace("`", "") not in again for message in python)
    for idea in ("erase", "uses itself"):
        assert idea in again and idea not in apart
    assert "An undefined name: 4 students" in apart
    assert all(trouble in apart for trouble in python.values()) and apart.count(": 3 students") == len(python) - 1
    assert "would help 2 students" in again and "IndentationError" not in summary


def test_unreadable_file_is_reported_once(tmp_path: Path) -> None:
    lost = {"status": "unreadable", "rule": "", "message": "x.ipynb is damaged.", "for_teacher": "Ask Ada for x.ipynb."}
    about = an_assignment().exercises
    text, look, summary = told(tmp_path, *(a_mark(**lost, exercise=one.id) for one in about))
    assert words(page_of(tmp_path)).count("Ask Ada for x.ipynb.") == 1 and "files that cannot be read: 1" in summary
    assert f"Ask Ada for x.ipynb. {len(about)} exercises" in look and "Ask Ada" not in text
    assert text.count("x.ipynb is damaged.") == 1 and text.count(f"Same as for {about[0].title}") == len(about) - 1


def test_renamed_and_missing_answers_are_listed(tmp_path: Path) -> None:
    unused = "No answer uses `mine`: is it an answer under another name?"
    note = "Found under the name `my_own`, which is passed to the check."
    first, second = (about.id for about in an_assignment().exercises[:2])
    marks = [a_mark(status="missing", remark=unused, exercise=name) for name in (first, second)]
    marks.append(a_mark(key="ben", status="passed", student="Ben", remark=note))
    _, look, summary = told(tmp_path, *marks)
    assert look.count("is it an answer under another name?") == 1 and f"{first}, {second}: No answer uses mine" in look
    assert f"Ben : {first} as my_own" in look and "my_own" not in words(page_of(tmp_path, "ben"))
    assert "sheets with answers that were not found: 1; students with answers under another name: 1" in summary


def test_similar_answers_are_shown_only_to_the_teacher(tmp_path: Path) -> None:
    assignment = an_assignment()
    text = " ".join(map(str, range(90)))
    marks = [
        mark(assignment, student, at, student=name, plain=text, source=f"# {name}'s <own>\n\tway\x1b = {at}")
        for student, name in enumerate(("Ada", "Ben", "Cleo"))
        for at in range(2 if name == "Cleo" else 4)
    ]
    _, told_to_teacher, summary = told(tmp_path, *marks)
    look = page_of(tmp_path).find(id="look")
    assert "A reason to look, never a verdict." in told_to_teacher
    rows = [words(row).partition(" 02-")[0].replace(" , ", ", ") for row in look.find_all("ul")[-1].find_all("li")]
    assert rows == ["Ada and Ben, 4 exercises", "Ada and Cleo, 2 exercises", "Ben and Cleo, 2 exercises"]
    folds = look.find_all("details")
    assert not any(fold.has_attr("open") for fold in folds) and words(folds[0].summary).endswith(": 100 %")
    sources = [part.get_text() for part in folds[0].find_all("pre")]
    assert sources == ["# Ada's <own>\n    way = 0", "# Ben's <own>\n    way = 0"]
    assert "pairs with similar answers: 3" in summary
    ben = words(page_of(tmp_path, "student-001"))
    assert "<own>" not in ben and "like" not in ben


def test_unproven_claims_are_shown_only_to_the_teacher(tmp_path: Path) -> None:
    forged = "what the answer returned"
    passed = a_mark(status="passed", points=1.0, unproven=("that nothing was copied", forged))
    text, look, _ = told(tmp_path, passed, a_mark(key="x", unproven=("of a failure",)))
    assert f"{forged}: 1 student in {passed.exercise}" in look and "of a failure" not in look and "copied" not in look
    assert forged not in text


@pytest.mark.parametrize("students", [0, 1, 500])
def test_classes_of_all_sizes(tmp_path: Path, students: int) -> None:
    assignment = an_assignment(hidden=True)
    summary = reports.write(tmp_path, assignment, marks_of(assignment, students))
    page = page_of(tmp_path)
    rows = page.select("table.heat tbody tr")
    assert len(rows) == len(list(tmp_path.glob("students/*/report.html"))) == students
    assert all((tmp_path / row.a["href"]).is_file() for row in rows)
    assert ("Nothing was handed in yet" in words(page)) == (students == 0)
    assert (tmp_path / "class.html").stat().st_size < 150_000 + 800 * students
    assert len(summary.splitlines()) <= 9 and all(line.isprintable() for line in summary.splitlines())


# ---- the files -------------------------------------------------------------------------------------------------------


def test_unchanged_reports_are_not_rewritten(tmp_path: Path) -> None:
    assignment = an_assignment()
    marks = marks_of(assignment, 6)

    def times() -> dict[str, tuple[int, int]]:
        files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
        return {str(p.relative_to(tmp_path)): (p.stat().st_mtime_ns, p.stat().st_ino) for p in files}

    reports.write(tmp_path, assignment, marks)
    before = times()
    assert set(before) == {"class.html", *(f"students/student-{i:03d}/report.html" for i in range(6))}
    reports.write(tmp_path, assignment, list(reversed(marks)))
    assert times() == before
    at = next(at for at, mark in enumerate(marks) if mark.status == "failed")
    marks[at] = dataclasses.replace(marks[at], status="passed", points=marks[at].out_of)
    reports.write(tmp_path, assignment, marks)
    changed = {name for name, stamp in times().items() if before.get(name) != stamp}
    assert changed == {"class.html", f"students/{marks[at].key}/report.html"}


@pytest.mark.parametrize("key", ["", ".", "..", "a/b", "../up", "/etc", "a\0b", "\ud800"])
def test_unsafe_key_is_refused(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name of a student's folder"):
        reports.write(tmp_path / "marks", an_assignment(), [a_mark(key=key)])
    assert not (tmp_path / "marks").exists()


@pytest.mark.parametrize("book", ["javascript:alert(1)", "data:text/html,x", " javascript:x", "vbscript:x"])
def test_unsafe_book_address_is_refused(tmp_path: Path, book: str) -> None:
    with pytest.raises(ValueError, match="is not an address"):
        reports.write(tmp_path, an_assignment(), [a_mark()], book=book)


def test_relative_book_folder_works_in_all_reports(tmp_path: Path) -> None:
    reports.write(tmp_path, an_assignment(), [a_mark()], book="./book")
    first = an_assignment().exercises[0]
    for page, home in ((page_of(tmp_path), tmp_path), (page_of(tmp_path, "student-000"), tmp_path / "students/s")):
        [href] = {
            a["href"] for a in page.find_all("a") if a["href"].partition("#")[0].endswith(f"{first.chapter}.html")
        }
        assert (home / href.partition("#")[0]).resolve() == (tmp_path / f"book/chapters/{first.chapter}.html").resolve()


def test_links_use_sphinx_ids() -> None:
    for read in {about.read for about in catalogue().values()}:
        heading = place(read).partition("section “")[2].removesuffix("”")
        assert link("../book/", read) == f"../book/chapters/{read.partition('#')[0]}.html#{make_id(heading)}"
        assert link("", read) == ""


# ---- malicious graphs and texts --------------------------------------------------------------------------------------


def chain(size: int, reads: int = 1, name: str = "n") -> dict[str, Any]:
    """A graph in which each node uses the previous one this many times."""
    return graph_of(*(node(f"{name}{i}", i, inputs=[max(i - 1, 0)] * reads) for i in range(size)))


@pytest.mark.parametrize(("size", "reads", "drawn"), [(LARGEST, 1, True), (10_000, 1, False), (4, MOST_EDGES, False)])
def test_large_graphs_are_shown_as_rows(size: int, reads: int, drawn: bool) -> None:
    figure = BeautifulSoup(Figures().figure(a_mark(node="n3", graph=chain(size, reads))), "html.parser")
    assert (figure.svg is not None) == drawn
    assert words(figure.find(class_="at-fault")) == "! 3 n3 call_function torch.relu(n3)"
    assert len(str(figure)) < 150_000
    assert len(figure.find_all("tr")) <= LARGEST + 1


@pytest.mark.parametrize(
    "graph",
    ["no graph", [], {"nodes": "x"}, {"nodes": [1]}, graph_of(node("bad", op='"><script>')), graph_of({"name": "bad"}),
     graph_of(node("bad", inputs=[7])), graph_of(node("bad", users=["0"]))],
)  # fmt: skip
def test_invalid_graphs_are_left_out(tmp_path: Path, graph: Any) -> None:
    reports.write(tmp_path, an_assignment(), [a_mark(node="bad", graph=graph)])
    assert page_of(tmp_path, "student-000").find("figure") is None


@pytest.mark.parametrize("depth", [100, 50_000])
def test_deep_arguments_and_odd_characters_are_handled(tmp_path: Path, depth: int) -> None:
    deep: Any = {"node": 0}
    for _ in range(depth):
        deep = [deep]
    name = "n\ud800\u202e\x00\x1b[31m" + "\u0301" * 400
    graph = graph_of(node("x"), node(name, 1, args=deep, inputs=[0, 0], notes=["\udfff"], faults=["\x07" * 500]))
    odd_mark = a_mark(
        student="\ud83d" * 3000, node=name, graph=graph, message="m" * 10**6, line="\ud800", read="\ud800#\0"
    )
    summary = reports.write(tmp_path, an_assignment(), [odd_mark])
    assert "\x1b" not in summary and "\ud800" not in summary
    assert (page_of(tmp_path, "student-000").find("figure") is not None) == (depth == 100)
    assert (tmp_path / "students/student-000/report.html").stat().st_size < 100_000


def test_text_is_made_printable() -> None:
    assert shown("Zoë\tO'Brien\n王 \N{ZERO WIDTH NON-JOINER}x", 50) == "Zoë O'Brien 王 \N{ZERO WIDTH NON-JOINER}x"
    assert shown("a\u202eb\x1bc\ud800", 50) == "a b c"
    assert shown("e" + "\u0301" * 90, 200) == "e" + "\u0301" * 4
    assert shown("x" * 99, 10) == "x" * 9 + "…"
    assert shown("\0" * 10**6, 40) == ""
