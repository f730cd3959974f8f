"""Rules that exercises of chapter 00 share, for answers that list names and for changed targets."""

from __future__ import annotations

from fxbook.cases.values import Value, kind_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

_NO_METHOD_NAME = "00_first_graph#valueerror-node-relu-target--has-type--but-a-str-is-expected"
_NO_PATH = "00_first_graph#six-opcodes-are-enough"

# ---- lists of names --------------------------------------------------------------------------------------------------


def names_in(value: Value, nodes: bool = False) -> list[str]:
    """The names in what the answer returned: strings, and the names of nodes if ``nodes`` are accepted."""
    return [name for item in _items(value) or () if (name := _name(item, nodes)) is not None]


def unreadable(value: Value, nodes: bool = False) -> Found:
    """Complaints about an answer that is not a list, tuple or set of names."""
    items = _items(value)
    if items is None:
        yield None, f"The answer is {kind_of(value)}, not a list of names."
    for item in items or ():
        if _name(item, nodes) is None:
            yield None, f"The list contains {kind_of(item)} where a name should be."


def _items(value: Value) -> list[Value] | None:
    match value:
        case list(items) | {"tuple": list(items)} | {"set": list(items)}:
            return items
    return None


def _name(item: Value, nodes: bool) -> str | None:
    match item:
        case str():
            return item
        case {"node": str(name)} if nodes:
            return name
    return None


def repeated(names: list[str]) -> Found:
    """Complaints about names that occur more than once."""
    for name in names:
        if names.count(name) > 1:
            yield None, f"`{name}` is in the answer more than once."


# ---- targets that were changed ---------------------------------------------------------------------------------------


@rule
def target_fits_op(case: CaseView) -> Found:
    """What a node calls fits its opcode; checked before ``lint``, whose message mentions only types."""
    for node in case.nodes:
        if node.op == "call_method" and "." in node.target:
            yield node, "is a `call_method`, but its target is a function, not the name of a method", _NO_METHOD_NAME
        if node.op == "call_module" and node.kind is None:
            where = f"its target is a qualified name, but no submodule is at `{node.target}`"
            yield node, f"is a `call_module`: {where}", _NO_PATH
