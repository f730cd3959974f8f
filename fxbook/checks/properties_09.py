"""What the exercises of chapter 09 demand of a measurement: whose time it is, what is counted, what is compared."""

from __future__ import annotations

import itertools
from collections import Counter

import torch

from fxbook.asking.rule import Violation
from fxbook.asking.values import Value
from fxbook.asking.view import CaseView
from fxbook.checks.flops_09 import flops_by_outermost
from fxbook.checks.machine_09 import Timed
from fxbook.stepping.run.record import RunRecord, record_run

_HERE = "09_profiling"
_FIRST = f"{_HERE}#a-clock-around-every-node"


# ---- answers that are data -------------------------------------------------------------------------------------------


def number(value: Value) -> float | None:
    """An encoded number, or a tensor of one element, as a float; ``None`` for anything else."""
    match value:
        case bool():
            return None
        case int():
            return float(value)
        case {"float": str(text)}:
            return float(text)
        case {"tensor": _, "shape": [], "data": [int() | float() as only]}:
            return float(only)
        case _:
            return None


def numbers(value: Value) -> list[float] | None:
    """An encoded list, tuple or vector of numbers; ``None`` for anything else."""
    match value:
        case list() | {"tuple": list()}:
            found = [number(item) for item in (value if isinstance(value, list) else value["tuple"])]
        case {"tensor": _, "shape": [_], "data": list(items)}:
            found = [float(item) for item in items]
        case _:
            return None
    return None if None in found else found  # type: ignore[return-value]


def table(value: Value) -> dict[str, Value] | None:
    """An encoded dict whose keys are names, or nodes; ``None`` for anything else."""
    if not (isinstance(value, dict) and "dict" in value):
        return None
    keys = [key["node"] if isinstance(key, dict) and "node" in key else key for key, _ in value["dict"]]
    if not all(isinstance(key, str) for key in keys):
        return None
    return dict(zip(keys, (item for _, item in value["dict"]), strict=True))


def close(found: float, wanted: float) -> bool:
    return abs(found - wanted) <= 1e-6 * max(abs(wanted), 1e-3)


# ---- times of nodes --------------------------------------------------------------------------------------------------


def times_of_each_node(case: CaseView) -> Violation | None:
    """A dict with a list of seconds for each node of the graph, by name."""
    found = table(case.value)
    if found is not None and any(isinstance(key, dict) for key, _ in case.value["dict"]):
        return Violation("The keys of the answer are nodes: the names of the nodes were asked.")
    if found is None or any(numbers(item) is None for item in found.values()):
        return Violation("A dict was asked that gives for the name of each node a list of seconds.")
    names = [node.name for node in case.before]
    missing = next((name for name in names if name not in found), None)
    if missing:
        return Violation(f"Node `{missing}` has no times: every node of the graph was to have them.")
    extra = next((name for name in found if name not in names), None)
    return Violation(f"The answer has times for `{extra}`, which is no node of the graph.") if extra else None


def without_the_first_run(case: CaseView) -> Violation | None:
    """As many times as runs were asked for, none of them that of a first call."""
    runs_asked = case.arguments[2]
    for name, cost in _costs(case).items():
        seconds = _times(case)[name]
        if any(close(second, 40 * cost) for second in seconds) and cost:
            message = f"The times of `{name}` hold that of the first run, which takes far longer than the others."
            return Violation(message, look=_FIRST)
        if len(seconds) != runs_asked:
            message = f"Node `{name}` has {len(seconds)} times: {runs_asked} runs were asked, besides the first."
            return Violation(message, look=_FIRST)
    return None


def on_the_clock(case: CaseView) -> Violation | None:
    """Each time is what the clock showed while that node ran: each call takes a known share longer than the last."""
    model = case.model
    assert isinstance(model, Timed)
    targets = Counter(node.target for node in case.before)
    for node in case.before:
        cost, seconds = model.costs.get(node.name, 0.0), _times(case)[node.name]
        if any(second < 0 for second in seconds):
            return Violation(f"A time of `{node.name}` is negative: the end, less the start, was asked.")
        not_shown = Violation(f"A time of `{node.name}` is not what `clock` showed while that node ran.", look=_FIRST)
        if not cost:
            if any(seconds):
                return not_shown
            continue
        # The number of the call that takes as long; a function that two nodes call is called twice in a run.
        calls = [(second / cost - 1) / model.growth for second in seconds]
        if any(abs(call - round(call)) > 1e-3 or not 0 < call < 1000 for call in calls):
            return not_shown
        steps = {round(after) - round(before) for before, after in itertools.pairwise(calls)}
        if steps == {0}:
            return Violation(f"The times of `{node.name}` are one number repeated: one time of each run was asked.")
        if steps != {targets[node.target]}:
            often = max(steps) // targets[node.target]
            message = f"Node `{node.name}` ran {often} times for each of its times: once in each run was asked."
            return Violation(message if often > 1 else not_shown.message, look=_FIRST)
    return None


def _costs(case: CaseView) -> dict[str, float]:
    model = case.model
    assert isinstance(model, Timed)
    return {node.name: model.costs.get(node.name, 0.0) for node in case.before}


def _times(case: CaseView) -> dict[str, list[float]]:
    return {name: numbers(item) or [] for name, item in (table(case.value) or {}).items()}


# ---- FLOPs by module -------------------------------------------------------------------------------------------------


def each_module_its_flops(case: CaseView) -> Violation | None:
    """The FLOPs of each outermost submodule; those that have none may be left out."""
    found = table(case.value)
    if found is None or any(number(item) is None for item in found.values()):
        return Violation("A dict was asked that gives for the path of each outermost submodule a number of FLOPs.")
    wanted = flops_by_outermost(case.model, *case.arguments[1:])
    known = {"", *(name for name, _ in case.model.named_children())}
    other = next((path for path in found if path not in known), None)
    if other is not None:
        return Violation(f"`{other}` is not the path of an outermost submodule of the model.")
    for path in (*wanted, *found):
        counted, asked = number(found.get(path, 0)), wanted.get(path, 0)
        if counted == asked:
            continue
        where = f"`{path}`" if path else 'The root itself (`""`)'
        if counted == 0:
            return Violation(f"{where} has no FLOPs in the answer: products are made there.")
        how = "more" if counted > asked else "fewer"  # type: ignore[operator]
        return Violation(f"{where} has {how} FLOPs in the answer than are done there.")
    return None


# ---- bytes alive -----------------------------------------------------------------------------------------------------


def bytes_alive(case: CaseView) -> Violation | None:
    """For each node, the bytes that are alive when its result is made and nothing was let go yet."""
    found = numbers(case.value)
    if found is None:
        return Violation("A list of numbers was asked, the bytes alive at each node.")
    traced, *inputs = case.arguments
    with torch.no_grad():
        run = record_run(traced, traced.graph, inputs, "run")
    if len(found) != len(run.during):
        return Violation(f"The list has {len(found)} numbers: one for each of the {len(run.during)} nodes was asked.")
    if found == list(run.during):
        return None
    if told := _told_at_once(case, found, run):
        return told
    with torch.enable_grad():
        kept = record_run(traced, traced.graph, inputs, "run")
    if found == list(kept.during) and kept.during != run.during:
        message = "The bytes are those of a run that keeps values for gradients: a run without gradients was asked."
        return Violation(message, look=f"{_HERE}#who-asks-for-gradients")
    at = next(index for index, pair in enumerate(zip(found, run.during, strict=True)) if pair[0] != pair[1])
    node = case.before.nodes[at]
    how = "more" if found[at] > run.during[at] else "fewer"
    value, before = run.values[at], found[at - 1] if at else 0
    why = ""
    if value and any(run.stores[number].stored for number in value.stores) and how == "more":
        why = " Weights were not to be counted, nor views of them."
    elif node.op == "placeholder":
        why = " Inputs count, from their own node to the end."
    elif value and len(value.stores) > 1 and how == "fewer" and found[at] <= before:
        why = " Its result is a tuple, in which each tensor has memory of its own."
    elif how == "more":
        why = " Memory that several tensors share counts once."
    return Violation(f"At node `{node.name}` the answer has {how} bytes than are alive.{why}")


def _told_at_once(case: CaseView, found: list[float], run: RunRecord) -> Violation | None:
    """The mistakes that explain each number of the list."""
    traced, *inputs = case.arguments
    if found == list(run.after):
        return Violation("The bytes are those left when values were let go: those alive before that were asked.")
    if found in ([0, *run.after[:-1]], [run.during[0], *run.after[:-1]]):
        return Violation("Each number is of the moment before its node made a result: that result was to be counted.")
    for unit, size in (("MiB", 2**20), ("KiB", 2**10), ("MB", 10**6), ("kB", 10**3)):
        if all(abs(number * size - held) < 1e-3 * held for number, held in zip(found, run.during, strict=True)):
            return Violation(f"The numbers are {unit}: bytes were asked.")
    if found == _never_let_go(run):
        message = "Nothing is let go in the answer: a value was to count no longer than it is alive."
        return Violation(message)
    with torch.no_grad():
        boxed = record_run(traced, traced.graph, inputs, "boxed_run")
    if found == list(boxed.during):
        return Violation("Inputs go after their last reader in the answer: the caller holds them to the end.")
    return None


def _never_let_go(run: RunRecord) -> list[float]:
    """The bytes at each node if every storage stayed."""
    values = run.values
    met: set[int] = set()
    held = []
    for value in values:
        met.update(value.stores if value else ())
        held.append(float(sum(run.stores[number].nbytes for number in met if not run.stores[number].stored)))
    return held
