"""Turn a live torch.fx graph into plain data, which the drawings, the checks and the reports read.

A :class:`GraphRecord` holds only strings, numbers and tuples. It can describe broken graphs (a node that uses itself,
an argument from another graph, two nodes with one name), and travels as JSON, so that a graph built by untrusted code
can be judged without running that code again.
"""

from __future__ import annotations

import dataclasses
import inspect
import linecache
import operator
import re
import types
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import msgspec
import torch
from torch import fx, nn

from fxbook.graph.closures import module_held
from fxbook.graph.naming import call_text, constant_text, module_kind, target_name, without_addresses
from fxbook.graph.plain import plain

JSON = Any
# The operators for x += y and the like; in-place methods end with an underscore, but operator.iadd does not.
_IN_PLACE = tuple(
    getattr(operator, f"i{name}")
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
        *("and", "or", "xor", "lshift", "rshift", "concat"),
    )
)
_DEAD, _FEEDS_DEAD = "dead", "only dead nodes read it"


@dataclasses.dataclass(frozen=True)
class NodeRecord:
    """One node in its list.

    ``index`` is its place in ``graph.nodes``, by which other records refer to it, since names need not be unique in a
    broken graph. ``args`` and ``kwargs`` are JSON: a node is ``{"node": index}``, or ``{"foreign": name}`` if it is not
    in this list. ``inputs`` are the indices of the nodes it uses, in argument order, with repeats; ``users`` are the
    indices of its users, in list order. ``kind`` is the class of the module that a ``call_module`` calls or of the
    object that a ``get_attr`` fetches. ``faults`` says what is broken. ``notes`` are remarks: ``"dead"`` (it has no
    users; never noted while a graph has no output yet), ``"only dead nodes read it"``, ``"side effect"``,
    ``"in place"``, ``"never runs: after the output"``. ``scope`` is the path of the innermost submodule whose code made
    the node, ``""`` at the root. ``holds`` is the module that a called function holds, in a closure or as the object of
    a method: ``"a torch.nn.Linear"``.
    """

    index: int
    name: str
    op: str
    target: str
    kind: str | None
    call: str
    args: JSON
    kwargs: JSON
    inputs: tuple[int, ...]
    users: tuple[int, ...]
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    scope: str = ""
    holds: str = ""

    @property
    def positional(self) -> list[JSON]:
        """The arguments by position; a graph also accepts a list, or even a non-sequence, as ``node.args``."""
        items = self.args.get("tuple") if isinstance(self.args, dict) else self.args
        return items if isinstance(items, list) else []

    @property
    def written(self) -> int | None:
        """The index of the node whose value a node in place changes: that of ``out``, or else its first input."""
        out = dict(self.kwargs["dict"]).get("out") if isinstance(self.kwargs, dict) and "dict" in self.kwargs else None
        if isinstance(out, dict):
            return out.get("node")
        return self.inputs[0] if self.inputs else None

    @property
    def constants(self) -> JSON:
        """The arguments, by position and by name, with one placeholder for all nodes of the list."""
        return _without_nodes([self.args, self.kwargs])


def _without_nodes(value: JSON) -> JSON:
    match value:
        case {"node": int()}:
            return "a node"
        case dict():
            return {key: _without_nodes(item) for key, item in value.items()}
        case list():
            return [_without_nodes(item) for item in value]
    return value


@dataclasses.dataclass(frozen=True)
class GraphRecord:
    """A graph: its nodes in list order, the message from ``lint`` or ``None``, and whether the compiled code is stale.

    ``inserts`` says where the next node would be inserted, ``"before `relu`"``; ``None`` for the end of the list.
    """

    nodes: tuple[NodeRecord, ...]
    lint: str | None = None
    stale: bool = False
    inserts: str | None = None

    def __iter__(self) -> Iterator[NodeRecord]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def named(self, name: str) -> NodeRecord | None:
        return next((node for node in self.nodes if node.name == name), None)

    def to_json(self) -> JSON:
        return msgspec.to_builtins(self)

    @classmethod
    def from_json(cls, data: JSON) -> GraphRecord:
        """The record that :meth:`to_json` described; raises msgspec.ValidationError for other data."""
        return msgspec.convert(data, cls)


def record(graph_or_module: fx.Graph | fx.GraphModule) -> GraphRecord:
    """Describe a graph, or the graph of a module, as plain data. Raises TypeError if the argument is neither."""
    if isinstance(graph_or_module, fx.GraphModule):
        graph, module = graph_or_module.graph, graph_or_module
    elif isinstance(graph_or_module, fx.Graph):
        graph, module = graph_or_module, graph_or_module.owning_module
    else:
        raise not_traced(graph_or_module, "an fx.Graph or an fx.GraphModule")
    position = {node: index for index, node in enumerate(graph.nodes)}
    nodes = tuple(_node_record(node, position, module) for node in graph.nodes)
    stale = isinstance(graph_or_module, fx.GraphModule) and _is_stale(graph_or_module)
    return GraphRecord(_compared(nodes), _lint(graph), stale, insertion_text(graph))


def not_traced(given: Any, expected: str = "an fx.GraphModule") -> TypeError:
    """An error for an argument that is not a graph; its message says what to pass."""
    kind = type(given).__name__
    if isinstance(given, torch.export.ExportedProgram):
        cure = "pass program.module()"
    elif kind in ("UnflattenedModule", "InterpreterModule"):
        cure = "pass program.module() of the program that was unflattened"
    elif isinstance(given, fx.Graph):
        cure = "pass the module of the graph, or fx.GraphModule(root, graph)"
    else:
        cure = "trace the model first, with torch.fx.symbolic_trace(model)"
    return TypeError(f"expected {expected}, got {kind}: {cure}")


class Insertion(NamedTuple):
    """Where the next node would be inserted: before or after a node, which is ``None`` if it was erased."""

    side: Literal["before", "after"]
    anchor: fx.Node | None


def insertion_of(graph: fx.Graph) -> Insertion | None:
    """Where the next node would be inserted, if not at the end of the list."""
    insert = graph._insert
    anchor, side = getattr(insert, "__self__", None), getattr(insert, "__name__", "")
    if anchor is graph._root and side == "prepend":
        return None
    if anchor is graph._root:
        first = next(iter(graph.nodes), None)
        return None if first is None else Insertion("before", first)
    is_there = isinstance(anchor, fx.Node) and not anchor._erased and anchor.graph is graph
    return Insertion("after" if side == "append" else "before", anchor if is_there else None)


def insertion_text(graph: fx.Graph) -> str | None:
    """Where the next node would be inserted, ``"before `relu`"``; ``None`` for the end of the list."""
    found = insertion_of(graph)
    if found is None:
        return None
    return f"{found.side} " + (f"`{found.anchor.name}`" if found.anchor is not None else "a node that was erased")


def _compared(nodes: tuple[NodeRecord, ...]) -> tuple[NodeRecord, ...]:
    first_of_name = {node.name: node.index for node in reversed(nodes)}
    output = next((node.index for node in nodes if node.op == "output"), None)
    needed = {node.index for node in nodes if _DEAD not in node.notes and (not node.users or node.notes)}
    waiting = list(needed)
    while waiting:
        new = set(nodes[waiting.pop()].inputs) - needed
        needed |= new
        waiting += new
    compared = []
    for node in nodes:
        notes, faults = list(node.notes), list(node.faults)
        if output is None and _DEAD in notes:
            notes.remove(_DEAD)
        elif output is not None and node.index not in needed and node.users and node.op != "placeholder":
            notes.append(_FEEDS_DEAD)
        if output is not None and node.index > output:
            notes.append("never runs: after the output")
        if first_of_name[node.name] != node.index:
            faults.append(f"has the same name as node {first_of_name[node.name]}")
        compared.append(dataclasses.replace(node, notes=tuple(notes), faults=tuple(faults)))
    return tuple(compared)


def _node_record(node: fx.Node, position: dict[fx.Node, int], module: nn.Module | None) -> NodeRecord:
    found = _fetch(module, node.target) if node.op in ("call_module", "get_attr") else None
    reads: list[fx.Node] = []
    args = _json(node.args, position, reads)
    kwargs = _json(node.kwargs, position, reads)
    return NodeRecord(
        index=position[node],
        name=node.name,
        op=node.op,
        target=target_name(node),
        kind=None if found is None else module_kind(found),
        call=call_text(node),
        args=args,
        kwargs=kwargs,
        inputs=tuple(position[read] for read in reads if read in position),
        users=tuple(sorted(position[user] for user in node.users if user in position)),
        notes=_notes(node, module),
        faults=_faults(node, reads, position),
        scope=_scope(node),
        holds=module_held(node.target) if node.op == "call_function" else "",
    )


def _json(value: Any, position: dict[fx.Node, int], reads: list[fx.Node]) -> JSON:
    def special(inner: Any) -> JSON | None:
        match inner:
            case fx.Node():
                reads.append(inner)
                return {"node": position[inner]} if inner in position else {"foreign": inner.name}
            case torch.Size():
                return {"tuple": list(inner)}
            case tuple() | list() | dict() | slice():
                return None
            case _:
                return {"constant": type(inner).__name__, "repr": constant_text(inner)[:200]}

    return plain(value, special)


def _fetch(module: nn.Module | None, path: Any) -> Any:
    found: Any = module
    for part in str(path).split("."):
        found = getattr(found, part, None)
    return found


def _notes(node: fx.Node, module: nn.Module | None) -> tuple[str, ...]:
    if node.op in ("placeholder", "output"):
        return ()
    notes = []
    called = str(node.target) if node.op == "call_method" else getattr(node.target, "__name__", "")
    called = called.partition(".")[0]  # an overload of an ATen operator is called `relu_.default`
    in_place = node.op in ("call_method", "call_function") and called.endswith("_") and not called.endswith("__")
    # and_, or_, not_ and is_ end with an underscore only because Python reserves the plain names.
    in_place &= getattr(node.target, "__module__", "") != "_operator"
    in_place |= node.op == "call_function" and any(node.target is operation for operation in _IN_PLACE)
    in_place |= node.op == "call_module" and getattr(_fetch(module, node.target), "inplace", False) is True
    if in_place or "out" in node.kwargs or _passes_inplace(node):
        notes.append("in place")
    # Node.is_impure looks the module up in the owner of the graph, which may be missing or may lack the module.
    missing = node.op == "call_module" and not isinstance(_fetch(module, node.target), nn.Module)
    if not missing and node.is_impure():
        notes.append("side effect")
    if not node.users and not notes:
        notes.append(_DEAD)
    return tuple(notes)


def _passes_inplace(node: fx.Node) -> bool:
    code = getattr(node.target, "__code__", None)
    parameters = code.co_varnames[: code.co_argcount] if isinstance(code, types.CodeType) else ()
    return {**dict(zip(parameters, node.args, strict=False)), **node.kwargs}.get("inplace") is True


def _faults(node: fx.Node, reads: list[fx.Node], position: dict[fx.Node, int]) -> tuple[str, ...]:
    faults = []
    for read in dict.fromkeys(reads):
        if read is node:
            faults.append("uses itself")
        elif read not in position:
            faults.append(f"uses {read.name}, which is not in this graph")
        elif position[read] > position[node]:
            faults.append(f"uses {read.name} before it is defined")
    return tuple(faults)


def _scope(node: fx.Node) -> str:
    """The path of the innermost submodule whose code made the node, ``""`` at the root."""
    try:
        stack = node.meta.get("nn_module_stack") or {}
        return str(next(reversed(stack.values()))[0]) if stack else ""
    except Exception:
        # A pass may write anything into meta.
        return ""


def _lint(graph: fx.Graph) -> str | None:
    try:
        graph.lint()
    except Exception as error:
        return plain_message(str(error))
    return None


def plain_message(message: str) -> str:
    """The first line of a message from torch.fx, without advice or addresses."""
    said = message.strip().split("\n")[0].split(" Please check")[0].strip()
    said = re.sub(r" of\s*\.?$", " of the module", said)
    return without_addresses(said)


def _is_stale(module: fx.GraphModule) -> bool:
    """Whether ``forward`` was compiled from an earlier state of the graph.

    ``module.code`` does not decide it, since ``recompile`` sets it even if Python rejects the code. A lazy module of
    ``torch.compile`` is never stale, because it compiles its graph at the first call.
    """
    lazy = getattr(type(module), "_lazy_forward", None)
    if lazy is not None and type(module).forward is lazy:
        return False
    try:
        forward = inspect.unwrap(module.forward)
        runs = "".join(linecache.getlines(forward.__code__.co_filename, forward.__globals__)) or module.code
        due = module.graph.python_code("self")
        # The code refers to functions by name, and the name may refer to a different function by now.
        same = all(forward.__globals__.get(name) is value for name, value in due.globals.items())
        return not (same and runs.rstrip().endswith(due.src.rstrip()))
    except Exception:
        return True
