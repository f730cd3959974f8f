"""Honest pairs are not listed as similar, and copies are found under any disguise."""

from __future__ import annotations

import dataclasses
import random

from classroom.collect.normalise import StudentCode
from classroom.reports.similarity import LEAST_OWN, alike, explained, pairs, runs
from classroom.tests.marks import an_assignment, mark
from classroom.tests.reports.copying import DISGUISES, honest, plain
from classroom.tests.students import solution
from fxbook.catalogue import catalogue

EXERCISE = "02-put-in-order"
COMPARED = [about.id for about in catalogue().values() if about.id.startswith("0")]
IMPORTS = "import operator\nimport torch\nfrom torch import fx, nn"


def answer(source: str, *others: str) -> str:
    return StudentCode([IMPORTS, *others, source], [IMPORTS]).texts("answer")[1]


def test_normalised_text_ignores_names_and_layout() -> None:
    first = answer("def answer(traced):\n    for node in traced.graph.nodes:\n        node.meta = {'k': fx.Node}")
    assert "torch.fx.Node" in first and ".graph.nodes" in first and "traced" not in first
    for copy in (
        "def answer(model):\n  # mine\n  for n in model.graph.nodes: n.meta = {'k': torch.fx.Node}\n",
        "import torch.fx as f\ndef answer(m):\n    for x in (\n        m.graph.nodes\n    ): x.meta = {'k': f.Node}",
        'def answer(m: fx.GraphModule) -> None:\n    "Mine."\n    for x in m.graph.nodes: x.meta: int = {"k": fx.Node}',
    ):
        assert answer(copy) == first


def test_answer_text_excludes_unneeded_and_handed_out_code() -> None:
    handed_out = "class Block(nn.Module):\n    width = 3"
    code = "def half(x): return Block\ndef answer(x): return half(x)"
    own = StudentCode([IMPORTS, handed_out, "def other(x): return 7", code], [IMPORTS, handed_out])
    source, text = own.texts("answer")
    assert source == "def half(x): return Block\n\ndef answer(x): return half(x)"
    assert "width" not in text and "7" not in text and text.count("def") == 2
    assert own.unused(frozenset({"answer"})) == ["other"]


def test_source_keeps_comments_and_is_limited() -> None:
    source, text = StudentCode(["x = 1\n# Why so.\ndef answer():  # here\n    return x"], ()).texts("answer")
    assert source == "x = 1\n\n# Why so.\ndef answer():  # here\n    return x"
    source, text = StudentCode(["def answer():\n" + "    call(1, 2, 3)\n" * 2000], ()).texts("answer")
    assert len(source) <= 4000 and len(text) <= 6000
    assert StudentCode(["def answer(:"], ()).texts("answer") == ("", "")
    assert StudentCode(["x = 1\n" * 700, "def answer(): return x"], ()).texts("answer") == ("", "")
    assert StudentCode(["x = " + "-" * 5000 + "1\ndef answer(): return x"], ()).texts("answer")[1] == ""


def test_honest_pairs_are_not_listed_and_copies_are_found() -> None:
    draw = random.Random(3)
    compared = honest_pairs = listed = 0
    counts = dict.fromkeys(DISGUISES, 0)
    for name in COMPARED:
        sources, book = honest(name), explained(catalogue()[name])
        texts = [plain(name, source) for source in sources]
        honest_pairs += len(texts) * (len(texts) - 1) // 2
        listed += len(pairs(texts, book))
        for at, source in enumerate(sources):
            # Among copies only, a run in more than three answers is common.
            if len(runs(texts[at]) - book) < LEAST_OWN:
                continue
            compared += 1
            for disguise, change in DISGUISES.items():
                counts[disguise] += bool(pairs([texts[at], plain(name, change(source, draw))], book))
    assert honest_pairs > 300 and listed == 0
    assert compared > 50 and counts["names_and_comments"] == compared
    assert all(count > 0.8 * compared for count in counts.values()), (counts, compared)


def test_code_of_the_book_is_ignored() -> None:
    for name in COMPARED:
        about = catalogue()[name]
        assert explained(about), f"{name}: neither stub nor solution was found"
        assert not pairs([plain(name, solution(name).source or "")] * 2, explained(about))


def test_common_and_short_code_is_ignored() -> None:
    text = plain(EXERCISE, honest(EXERCISE)[0])
    others = [plain(EXERCISE, other) for name in COMPARED for other in honest(name) if name != EXERCISE]
    assert pairs([text] * 3 + others[:12], frozenset()).keys() >= {(0, 1), (0, 2), (1, 2)}
    # A fifth of a class, or 15 of a large one, is many.
    assert (0, 1) in pairs([text] * 4 + others[:16], frozenset())
    assert (0, 1) not in pairs([text] * 5 + others[:16], frozenset())
    assert (0, 1) not in pairs([text] * 16 + others[:100], frozenset())
    assert not pairs([answer("def answer(traced):\n    traced.recompile()\n    return traced")] * 2, frozenset())


def test_answers_are_compared_by_exercise_whatever_their_status() -> None:
    assignment = an_assignment()
    at = next(at for at, about in enumerate(assignment.exercises) if about.id == EXERCISE)
    text = plain(EXERCISE, honest(EXERCISE)[0])
    marks = [mark(assignment, student, at, plain=text if student < 2 else "") for student in range(5)]
    marks[1] = dataclasses.replace(marks[1], status="failed")
    marks.append(mark(assignment, 3, at - 1, plain=text))
    [likeness] = alike(assignment.exercises, marks)
    assert (likeness.exercise.id, likeness.share) == (EXERCISE, 1.0) and likeness.marks == (marks[0], marks[1])
