"""The state of each value after a node: not there yet, alive, kept by something else, freed."""

from __future__ import annotations

import dataclasses
from typing import Literal

from fxbook.drawing.lettering import clean, cut
from fxbook.graph.record import GraphRecord
from fxbook.stepping.run.record import RunRecord, Value

Kind = Literal["later", "waiting", "made", "alive", "stored", "shared", "kept", "freed", "gone", "raised"]
SIGNS: dict[Kind, str] = {
    "later": "·",
    "waiting": "●",
    "made": "+",
    "alive": "●",
    "stored": "■",
    "shared": "◐",
    "kept": "▲",
    "freed": "\N{MINUS SIGN}",
    "gone": "○",
    "raised": "!",
}


@dataclasses.dataclass(frozen=True)
class State:
    """A value at one step: ``word`` is its state in one or two words, ``why`` adds a reason.

    ``nbytes`` is the number of bytes counted for it: those of its storages that no earlier value in the list uses.
    """

    kind: Kind
    word: str
    why: str = ""
    nbytes: int = 0

    @property
    def sign(self) -> str:
        return SIGNS[self.kind]

    @property
    def brief(self) -> str:
        """The state in a few words for a node's box: ``● alive 32 B``, ``○ freed``."""
        return f"{self.sign} {self.word}" + (f" {size(self.nbytes)}" if self.nbytes else "")


def size(nbytes: int) -> str:
    """Bytes as text: exact below 10,000, then in kB, MB and GB of 1,000 each, to three digits."""
    if nbytes < 10_000:
        return f"{nbytes:,} B"
    scaled = float(nbytes)
    for unit in ("kB", "MB", "GB"):
        scaled /= 1000
        if scaled < 999.5 or unit == "GB":
            return f"{float(f'{scaled:.3g}'):,.10g} {unit}"
    raise AssertionError


def state_after(run: RunRecord, graph: GraphRecord, index: int, step: int) -> State:
    """The state of the value of node ``index`` once the node at ``step`` has run and unneeded values are freed."""
    value = run.values[index]
    if run.error is not None and index == run.failed and step >= index:
        return State("raised", "raised")
    if value is None or (value.made > step and not _is_given(run, value)):
        return State("later", "not yet" if run.error is None or index > step else "never ran")
    owned = [number for number in value.stores if run.owner[number] == index and not run.stores[number].stored]
    nbytes = sum(run.stores[number].nbytes for number in owned if _is_alive(run, number, step))
    if value.made > step:
        return State("waiting", "waits", "given to run, not read yet", nbytes)
    if value.made == step or (value.made < 0 and index == step):
        word = {"placeholder": "came in", "get_attr": "fetched"}.get(graph.nodes[index].op, "made")
        return State("made", word, _shared(run, graph, index), nbytes)
    living = [number for number in value.stores if _is_alive(run, number, step)]
    if living and all(run.stores[number].stored for number in living):
        return State("stored", "stored", "in the module, counted separately")
    if value.dropped is None or value.dropped > step:
        return State("alive", "alive", _shared(run, graph, index), nbytes)
    if living:
        return _outliving(run, graph, index, living, step, nbytes)
    last = max([value.dropped, *(run.stores[number].gone or 0 for number in value.stores)])
    return State("freed", "freed now") if last == step else State("gone", "freed")


def freed_at(run: RunRecord, graph: GraphRecord, step: int) -> list[tuple[str, int]]:
    """The values whose memory was freed after the node at ``step``: their names and bytes."""
    went: dict[int, int] = {}
    for number in run.freed.get(step, ()):
        index = run.owner[number]
        went[index] = went.get(index, 0) + run.stores[number].nbytes
    return [(cut(clean(graph.nodes[index].name), 40), went[index]) for index in sorted(went)]


def _is_given(run: RunRecord, value: Value) -> bool:
    return any(run.stores[number].born < 0 and run.stores[number].given for number in value.stores)


def _is_alive(run: RunRecord, number: int, step: int) -> bool:
    gone = run.stores[number].gone
    return gone is None or gone > step


def _shared(run: RunRecord, graph: GraphRecord, index: int) -> str:
    value = run.values[index]
    assert value is not None
    if value.stores and all(run.stores[number].stored for number in value.stores):
        return "in the module, counted separately"
    elders = dict.fromkeys(run.owner[number] for number in value.stores)
    names = [cut(clean(graph.nodes[elder].name), 30) for elder in elders if elder != index]
    if not names:
        return ""
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return f"in the memory of {', '.join(names[:2])}{more}"


def _outliving(run: RunRecord, graph: GraphRecord, index: int, living: list[int], step: int, nbytes: int) -> State:
    """The state of a value that the interpreter has dropped while something else holds its memory."""
    if run.method == "run" and any(run.stores[number].given for number in living):
        return State("kept", "kept", "run's arguments hold it", nbytes)
    others = [other for number in living for other in run.held_at(number, step) if other != index]
    if others:
        return State("shared", "lives on", f"in {cut(clean(graph.nodes[min(others)].name), 30)}", nbytes)
    if run.for_backward:
        return State("kept", "kept", "autograd may need it for backward", nbytes)
    return State("kept", "kept", "something outside the interpreter holds it", nbytes)
