"""Run a list of passes, record what each of them does to the graph, and skip some by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from torch import fx
from torch.utils import _pytree as pytree

from fxbook.graph.record import not_traced
from fxbook.passes.changes import graphs_of
from fxbook.passes.copying import copied
from fxbook.passes.functions import identity
from fxbook.passes.pass_run import returned_module

Calls = dict[str, tuple[Any, ...]]
_SHOWN = 4


@dataclasses.dataclass(frozen=True)
class PassSeen:
    """What one pass in a list did. Nodes are given by name, and those of a nested graph with its path.

    Attributes:
        name: the name of the pass.
        made: new nodes.
        erased: erased nodes.
        replaced: for each erased node that was replaced, the node that its users use now.
        changed: other nodes whose target or arguments changed.
        ran: whether the pass ran; ``False`` if it was left out.
    """

    name: str
    made: tuple[str, ...] = ()
    erased: tuple[str, ...] = ()
    replaced: dict[str, str] = dataclasses.field(default_factory=dict)
    changed: tuple[str, ...] = ()
    ran: bool = True

    def __bool__(self) -> bool:
        return bool(self.made or self.erased or self.changed)

    def __str__(self) -> str:
        if not self.ran:
            return f"{self.name}: left out"
        replaced = [f"{old} by {new}" for old, new in self.replaced.items()]
        told = (("made", self.made), ("erased", self.erased), ("replaced", replaced), ("changed", self.changed))
        return f"{self.name}: " + ("; ".join(_counted(what, names) for what, names in told if names) or "nothing")


@dataclasses.dataclass(frozen=True, repr=False)
class PassesSeen:
    """The result of running a list of passes: the module, and what each pass did, in order."""

    module: fx.GraphModule
    passes: tuple[PassSeen, ...]

    def __iter__(self) -> Iterator[PassSeen]:
        return iter(self.passes)

    def __getitem__(self, name: str) -> PassSeen:
        """What the pass with that name did. Raises KeyError if no pass has that name."""
        return {one.name: one for one in self.passes}[name]

    def __repr__(self) -> str:
        return "\n".join(map(str, self.passes))


def run_passes(
    module: fx.GraphModule, passes: Sequence[Callable[[Any], Any]], *, without: Iterable[str] = ()
) -> PassesSeen:
    """Run passes in order on a copy of a module, and record which nodes each of them made and erased.

    The graphs are compared, so a pass may edit in place or return a new module.

    Args:
        module: the module before any pass; it is not changed.
        passes: the passes, in order; each gets what the previous one returned.
        without: the names of passes to leave out. If two passes have the same name, the second is called ``name_2``.

    Returns:
        The resulting module and what each pass did; its text has one line per pass.

    Raises:
        TypeError: ``module`` is not a ``GraphModule``; the message says what to pass.
        ValueError: ``without`` has a name that no pass has.
        Exception: whatever a pass raises, with a note that names the pass.

    Example:
        >>> import torch
        >>> from fxbook import run_passes
        >>> def relu_to_clamp(module):
        ...     for node in module.graph.find_nodes(op="call_function", target=torch.relu):
        ...         with module.graph.inserting_before(node):
        ...             new = module.graph.call_method("clamp_min", (node.args[0], 0))
        ...         node.replace_all_uses_with(new)
        ...         module.graph.erase_node(node)
        ...     module.recompile()
        >>> def nothing(module):
        ...     return None
        >>> run_passes(torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1), [relu_to_clamp, nothing])
        relu_to_clamp: made 1 (clamp_min); erased 1 (relu); replaced 1 (relu by clamp_min); changed 1 (add)
        nothing: nothing
    """
    if not isinstance(module, fx.GraphModule):
        raise not_traced(module)
    named = _named(passes)
    left_out = {without} if isinstance(without, str) else set(without)
    if unknown := sorted(left_out - named.keys()):
        raise ValueError(f"no pass is called {unknown[0]!r}; the passes are {', '.join(named)}")
    made, seen = copied(module), []
    for name, run in named.items():
        if name in left_out:
            seen.append(PassSeen(name, ran=False))
            continue
        before = _calls(made)
        try:
            made = returned_module(run(made), made)
        except Exception as error:
            error.add_note(f"raised by the pass {name}")
            raise
        seen.append(_seen(name, before, _calls(made)))
    return PassesSeen(made, tuple(seen))


def _named(passes: Sequence[Callable[[Any], Any]]) -> dict[str, Callable[[Any], Any]]:
    named: dict[str, Callable[[Any], Any]] = {}
    for run in passes:
        own = getattr(run, "__name__", None) or type(run).__name__
        name, count = own, 2
        while name in named:
            name, count = f"{own}_{count}", count + 1
        named[name] = run
    return named


def _calls(module: fx.GraphModule) -> Calls:
    """For each node, by name: what it calls, and its flattened arguments, where nodes are replaced by their names."""
    return {
        f"{path}.{node.name}" if path else node.name: (node.op, _text(node.target), *map(_text, _arguments(node)))
        for path, graph in graphs_of(module).items()
        for node in graph.nodes
    }


def _arguments(node: fx.Node) -> list[Any]:
    return pytree.tree_leaves((node.args, node.kwargs))


def _text(argument: Any) -> Any:
    if isinstance(argument, fx.Node):
        return _Read(argument.name)
    return identity(argument) if callable(argument) else repr(argument)


class _Read(str):
    """Stands for a node among the arguments: its name."""


def _seen(name: str, before: Calls, after: Calls) -> PassSeen:
    erased = [node for node in before if node not in after]
    changed = [node for node in before if node in after and before[node] != after[node]]
    replaced: dict[str, str] = {}
    for node in changed:
        path = node.rpartition(".")[0]
        if len(before[node]) == len(after[node]):
            for old, new in zip(before[node], after[node], strict=True):
                whole = f"{path}.{old}" if path else str(old)
                if isinstance(old, _Read) and isinstance(new, _Read) and old != new and whole not in after:
                    replaced.setdefault(whole, f"{path}.{new}" if path else str(new))
    made = tuple(node for node in after if node not in before)
    return PassSeen(name, made, tuple(erased), replaced, tuple(changed))


def _counted(what: str, names: Sequence[str]) -> str:
    more = ", …" if len(names) > _SHOWN else ""
    return f"{what} {len(names)} ({', '.join(names[:_SHOWN])}{more})"
