"""Make forgetting impossible."""

from __future__ import annotations

import dataclasses
import functools
import re

from fxbook.cases import Check
from fxbook.rules.rule import Found, rule
from fxbook.rules.trial import Trial
from fxbook.rules.view import CaseView

from .. import check as chapter
from ..cases import calls_of
from ..check import noted, texts
from .cases import StoppedError, takes

_HALF = "04_recompile#an-edit-that-stops-half-way-stays-in-the-graph"
_LINT = "when_it_breaks/04_recompile#what-lint-can-see-and-what-recompile-finds"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What should come of an edit: the graph afterwards, and the error or the check that rejects the edit.

    Args:
        nodes: the graph afterwards, as text.
        former: the graph before, as text.
        raised: the class of the error that the edit raises, if it does.
        beyond: whether that class is not a subclass of ``Exception``.
        refused_by: ``"lint"`` or ``"recompile"``, if it rejects the graph that the edit leaves.
    """

    nodes: list[str]
    former: list[str]
    raised: str | None = None
    beyond: bool = False
    refused_by: str | None = None


@functools.lru_cache(maxsize=1)
def outcome_of(trial: Trial) -> Outcome:
    """Try the edit of a case; cached, because several rules need the same outcome."""
    _, (traced, edit) = trial.start()
    former = calls_of(traced)
    try:
        edit(traced.graph)
    except (Exception, KeyboardInterrupt, StoppedError) as error:
        return Outcome(former, former, raised=type(error).__name__, beyond=not isinstance(error, Exception))
    for refusing in (traced.graph.lint, traced.recompile):
        try:
            refusing()
        except Exception:
            return Outcome(former, former, refused_by=refusing.__name__)
    return Outcome(calls_of(traced), former)


@rule
def gives_the_graph(case: CaseView) -> Found:
    """The answer can be used in a ``with`` statement, which gives a graph to edit."""
    kind, manager = noted(case).get("as"), noted(case).get("manager")
    if manager == "generator":
        yield None, "Your function returns a generator, which `with` cannot use: keep `@contextlib.contextmanager`."
    if manager:
        yield None, f"Your function returns an object of class {manager}, which `with` cannot use."
    if kind != "Graph":
        yield None, f"`with … as graph` gives an object of class {kind}, not the graph to edit."


@rule
def lets_the_error_out(case: CaseView) -> Found:
    """The caller gets the error from the edit, or the one from ``lint`` or ``recompile``."""
    outcome, raised = outcome_of(case.trial), noted(case).get("raised")
    if outcome.raised and raised is None:
        yield None, f"The edit raised {outcome.raised}, but the `with` swallows it: the caller must see it."
    elif outcome.raised and raised != outcome.raised:
        yield None, f"The edit raised {outcome.raised}, but the caller got {raised}."
    elif outcome.raised and noted(case).get("itself") is False:
        yield None, f"The edit raised a {outcome.raised}, but the caller got a different object of that class."
    elif outcome.refused_by and raised is None:
        yield None, f"An edit left a graph that {outcome.refused_by} rejects, but nothing was raised.", _LINT
    elif raised is not None and not (outcome.raised or outcome.refused_by):
        yield None, f"The edit is valid, but the `with` raises {raised}."


@rule
def as_before_or_edited(case: CaseView) -> Found:
    """After a failed edit, the graph is the former one; otherwise, it is the edited one."""
    outcome, lines = outcome_of(case.trial), texts(noted(case).get("nodes"))
    failed = outcome.raised or outcome.refused_by
    if lines == outcome.nodes:
        for name in texts(noted(case).get("copied")) if failed else ():
            copied = f"the `meta` of `{name}` holds a copy of a value, not the value itself"
            yield None, f"The nodes are back, but {copied}.", _HALF
        return
    calls, expected = ([line.rpartition(" [")[0] for line in each] for each in (lines, outcome.nodes))
    if calls == expected:
        line, wanted = next((a, b) for a, b in zip(lines, outcome.nodes, strict=True) if a != b)
        notes, before = (text.rpartition(" [")[2].rstrip("]") or "nothing" for text in (line, wanted))
        name = line.partition(" = ")[0]
        yield None, f"The nodes are back, but `meta` of `{name}` holds {notes}, not {before}.", _HALF
    if failed and _nameless(calls) == _nameless(expected):
        name, wanted = next((a, b) for a, b in zip(_names(calls), _names(expected), strict=True) if a != b)
        yield None, f"The nodes are back, but a node that was called `{wanted}` is now `{name}`.", _HALF
    lost = next((call for call in expected if call not in calls), None)
    if not failed and lost and lines != outcome.former:
        yield None, f"The edit is valid, but `{lost}`, which it left in the graph, is missing.", _HALF
    if not failed:
        yield None, "The edit is valid, but it is not in the graph.", _HALF
    what = "its nodes are in a different order"
    if odd := next((call for call in calls if call not in expected), None):
        what = f"it has `{odd}`"
    elif lost:
        what = f"`{lost}` is missing"
    beyond = f" with {outcome.raised}" if outcome.beyond else ""
    yield None, f"The edit failed{beyond}, and the graph is not the former one: {what}.", _HALF


def _names(lines: list[str]) -> list[str]:
    return [line.partition(" = ")[0] for line in lines]


def _nameless(lines: list[str]) -> str:
    """The lines, with a number in place of each node name."""
    numbers = {name: str(number) for number, name in enumerate(_names(lines))}
    return re.sub(r"(?<![\w.])\w+", lambda word: numbers.get(word[0], word[0]), "\n".join(lines))


@rule
def left_well(case: CaseView) -> Found:
    """The module is left well formed and compiled, even if it was stale before."""
    for node, sentence, place in chapter.left_well.find(case):
        if noted(case).get("stale") and case.before.stale and noted(case).get("raised"):
            sentence = "The block failed, and the module is still stale: the former graph must be compiled."
        yield node, sentence, place


@rule
def owned(case: CaseView) -> Found:
    """The graph belongs to the module."""
    if noted(case).get("owned") is False:
        if noted(case).get("has an owner") is False:
            no_owner = "The graph of the module has no owner and is not compiled: assign it to `traced.graph`."
            yield None, no_owner, "04_recompile#who-sees-an-edit-at-once"
        yield None, "The graph now belongs to another module, against which lint checks it."


@rule
def takes_its_inputs(case: CaseView) -> Found:
    """A call takes the same inputs as before: besides its nodes, a graph stores how its inputs are unpacked."""
    now, before = texts(noted(case).get("takes")), takes(case.arguments[0])
    if now != before:
        names, were = (", ".join(f"`{name}`" for name in each) for each in (now, before))
        yield None, f"The nodes are back, but the module takes {names}, not {were}: the codegen is lost.", _HALF


CHECK = Check((gives_the_graph, lets_the_error_out, as_before_or_edited, left_well, owned, takes_its_inputs))
