"""What the exercises of chapter 04 demand: of what an answer says of a module, and of what it leaves of one."""

from __future__ import annotations

from typing import Any

from fxbook.asking.rule import Violation
from fxbook.asking.values import Value, difference, encode
from fxbook.asking.view import CaseView
from fxbook.checks.truth_04 import failing_node, is_stale, survives_a_pickle

_HERE = "04_recompile"
_DOWN = f"{_HERE}#recompile-goes-down-to-children-not-to-everything-inside"
_HALF = f"{_HERE}#an-edit-that-stops-half-way-stays-in-the-graph"
_PICKLE = f"{_HERE}#a-pickle-holds-code-and-loading-traces-it"
_COPY = f"{_HERE}#what-a-copy-keeps"
_LINE = f"{_HERE}#find-the-line-that-failed"


# ---- what it should be -----------------------------------------------------------------------------------------------


def told(case: CaseView) -> dict[str, Value]:
    """What was noted of the answer: the items of the dict that ``Exercise.call`` returned."""
    items = case.value.get("dict", []) if isinstance(case.value, dict) else []
    return {key: item for key, item in items if isinstance(key, str)}


def says_whether_stale(case: CaseView) -> Violation | None:
    """The answer is ``True`` for a module whose text is older than its graph, else ``False``."""
    stale, said = is_stale(*case.arguments), told(case).get("said")
    if not isinstance(said, bool):
        return Violation("Your function returns neither True nor False.")
    if said == stale:
        return None
    if stale:
        return Violation("It says that the code is up to date, of a module whose code is stale.")
    return Violation("It says that the code is stale, of a module whose code is up to date.")


def left_alone(case: CaseView) -> Violation | None:
    """The module that was asked about still owns its graph, and nothing in it was compiled."""
    if told(case).get("owned") is False:
        return Violation("The graph of the module has another owner now: a copy has taken it over.", look=_COPY)
    compiled = _texts(told(case).get("compiled"))
    if compiled and not compiled[0]:
        return Violation("The module was compiled: it was to be left as it is.")
    if compiled:
        return Violation(
            f"`{compiled[0]}`, a traced module inside, was compiled: it was to be left as it is.", look=_DOWN
        )
    return None


# ---- modules inside modules ------------------------------------------------------------------------------------------


def all_up_to_date(case: CaseView) -> Violation | None:
    """No traced module inside the model is stale."""
    left = _texts(told(case).get("stale"))
    if left:
        path = f"`{left[0]}`" if left[0] else "the model itself"
        return Violation(f"A traced module inside the model is still stale: {path}.", look=_DOWN)
    return None


def graphs_kept(case: CaseView) -> Violation | None:
    """The graphs are those that were given, edits included."""
    changed = _texts(told(case).get("changed"))
    if changed:
        path = f"`{changed[0]}`" if changed[0] else "the model itself"
        return Violation(f"The graph of {path} is not the one that was given: only the code was to be made anew.")
    return None


# ---- how often it is compiled ----------------------------------------------------------------------------------------


def compiled_once(case: CaseView) -> Violation | None:
    """Compiled not more often than needed."""
    count = told(case).get("compiles")
    needed = 1 if told(case).get("needed") else 0
    if isinstance(count, int) and count > needed:
        times = "once" if count == 1 else f"{count} times"
        asked = "once was asked" if needed else "nothing in it was to change"
        return Violation(f"The module is compiled {times}: {asked}.", look=f"{_HERE}#compile-once-at-the-end")
    return None


def left_well(case: CaseView) -> Violation | None:
    """What was left of the module is well formed and compiled."""
    lint = told(case).get("lint")
    if isinstance(lint, str):
        return Violation(f"graph.lint() refuses the graph: {lint.rstrip('.')}.", look=_lint())
    if told(case).get("stale"):
        message = "The graph is changed, but the compiled code is stale: calling the module runs the old code."
        if told(case).get("stale_before") and told(case).get("raised"):
            message = "The module was stale before the block, and after the block that failed it still is."
        return Violation(message, look=f"{_HERE}#who-sees-an-edit-at-once")
    return None


def changed_as_asked(case: CaseView) -> Violation | None:
    """No call of ``torch.relu`` is left, and every other call is still there."""
    left, gone = _texts(told(case).get("left")), _texts(told(case).get("gone"))
    if left:
        return Violation(f"Node `{left[0]}` still calls torch.relu.")
    if gone:
        return Violation(f"The {gone[0]} is gone: calls of torch.relu alone were to change.")
    return None


def result_as_asked(case: CaseView) -> Violation | None:
    """A call of the module gives what was asked for."""
    differs = difference(told(case).get("result"), encode(case.exercise.expected(*case.arguments)))
    return Violation(f"The result is not the one asked for: {differs}.") if differs else None


def _lint() -> str:
    return f"{_HERE}#what-lint-can-see-and-what-recompile-finds"


# ---- which node, which module ----------------------------------------------------------------------------------------


def names_the_node(case: CaseView) -> Violation | None:
    """The answer is the name of the node that fails, or ``None`` where none does."""
    wanted, found = failing_node(*case.arguments), case.value
    if found == wanted:
        return None
    if isinstance(found, dict) and "node" in found:
        return Violation("It returns a node: its name was asked.")
    if wanted is None:
        return Violation("It names a node, and calling the module raises nothing: None was asked.")
    if found is None:
        return Violation("It returns None, and calling the module raises.")
    if not isinstance(found, str):
        return Violation("Your function returns neither the name of a node nor None.")
    known = case.before.named(found)
    what = (
        f"It names `{found}`, which does not fail" if known else f"It returns {found!r}, which is the name of no node"
    )
    return Violation(f"{what}.", look=_LINE)


def foretells_the_pickle(case: CaseView) -> Violation | None:
    """The answer says whether the module comes out of a pickle with the program that its graph has."""
    wanted, said = survives_a_pickle(*case.arguments), told(case).get("said")
    if not isinstance(said, bool):
        return Violation("Your function returns neither True nor False.")
    if said == wanted:
        return None
    if wanted:
        return Violation(f"It says False, and the program survives: {case.case.name}.", look=_PICKLE)
    return Violation(f"It says True, and the program does not survive: {case.case.name}.", look=_PICKLE)


# ---- an edit with a way back -----------------------------------------------------------------------------------------


def gives_the_graph(case: CaseView) -> Violation | None:
    """The answer can stand in a ``with``, and ``as`` gives a graph to edit."""
    kind, manager = told(case).get("as"), told(case).get("manager")
    if manager == "generator":
        message = (
            "It returns a generator, which `with` cannot use: the decorator `@contextlib.contextmanager` was to stay."
        )
        return Violation(message)
    if manager:
        return Violation(f"It returns an object of class {manager}, which `with` cannot use.")
    if kind != "Graph":
        return Violation(f"`with … as graph` gives an object of class {kind}: the graph to edit was asked.")
    return None


def lets_the_error_out(case: CaseView) -> Violation | None:
    """What the edit raises reaches the caller, and so does the refusal of a graph that is not well formed."""
    raised, wanted = told(case).get("raised"), told(case).get("wanted")
    if wanted == "ValueError" and raised is None:
        return Violation("The edit raised ValueError, and the `with` kept it to itself: the caller was to see it.")
    if wanted == "ValueError" and raised != wanted:
        return Violation(f"The edit raised ValueError, and the caller saw {raised}.")
    if wanted == "a refusal" and raised is None:
        edit = told(case).get("edit")
        message = f"An edit left a graph that {edit} refuses, and nothing was raised."
        return Violation(message, look=_lint())
    if wanted is None and raised is not None:
        return Violation(f"The edit is sound, and the `with` raises {raised}.")
    return None


def as_before_or_edited(case: CaseView) -> Violation | None:
    """After an edit that fails the graph is the former one; after one that does not it is the edited one."""
    found, asked = _texts(told(case).get("nodes")), _texts(told(case).get("asked"))
    if found == asked:
        return None
    calls, wanted = ([line.rpartition(" [")[0] for line in lines] for lines in (found, asked))
    if calls == wanted:
        return Violation("The nodes are back without their notes: `meta` is not what it was.", look=_HALF)
    if told(case).get("wanted") is None:
        return Violation("The edit was sound, and it is not in the graph.", look=_HALF)
    odd = next((call for call in calls if call not in wanted), None)
    lost = next((call for call in wanted if call not in calls), None)
    what = "its nodes stand in another order"
    if odd or lost:
        what = f"it has `{odd}`" if odd else f"`{lost}` is missing"
    return Violation(f"The edit failed, and the graph is not the former one: {what}.", look=_HALF)


def owned(case: CaseView) -> Violation | None:
    """The graph belongs to the module."""
    if told(case).get("owned") is False:
        return Violation("The graph of the module has another owner now: lint checks it against the wrong module.")
    return None


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
