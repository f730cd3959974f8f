"""The invariants on the graph: it is valid and compiled, with no new dead nodes, correct meta, and the same inputs."""

from __future__ import annotations

import copy
import io
import pickle
import types
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, fx
from torch.export import ExportedProgram

from fxbook.graph.record import GraphRecord, record
from fxbook.passes.asking import NotCheckedError, Told, invariant
from fxbook.passes.calling import ordered
from fxbook.passes.growing.inputs import known_size
from fxbook.passes.outcome import dense, kept, one_line
from fxbook.passes.trial import Trial


@invariant
def lint(trial: Trial) -> Told | None:
    """The graph and those inside it are valid: ``graph.lint()`` raises nothing, and the last node is the output.

    The same goes for an ``ExportedProgram`` and ``program.validate()``.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.lint(lambda module: module.graph.eliminate_dead_code(), random_graph(7))
        Traceback (most recent call last):
        fxbook.passes.trial.WrongReturnError: the pass returns bool: return PassResult(module, modified)
    """
    found = trial.recorded[1]
    if found.lint:
        return Told(found.lint, "put each node after its inputs, and call module.graph.lint()")
    if not found.nodes or all(node.op != "output" for node in found):
        return Told("the graph has no output", "call graph.output(result)")
    if late := [node.name for node in found if "never runs: after the output" in node.notes]:
        return Told(f"`{late[0]}` follows the output and never runs", "insert before the output", late[0])
    for path, inner in _inner_records(trial):
        if inner.lint:
            return Told(f"in the graph of `{path}`: {inner.lint}", "put each node after its inputs")
    # The pass gets a copy, in which torch renames a placeholder called `input`, but not in the signature.
    said = _invalid(trial.first.made)
    if said and "Input spec name" not in said and not _invalid(trial.given):
        cure = "update the signature too: program.graph_signature.replace_all_uses(old.name, new.name)"
        return Told(f"the program is not valid, and cannot be saved: {said}", cure)
    return None


def _inner_records(trial: Trial) -> Iterator[tuple[str, GraphRecord]]:
    """The graphs inside the module that were all right before the pass or are new, by path."""
    was = dict(trial.before.named_modules())
    for path, inner in trial.after.named_modules():
        if path and isinstance(inner, fx.GraphModule):
            old = record(found) if isinstance(found := was.get(path), fx.GraphModule) else None
            if old is None or not (old.lint or old.stale):
                yield path, record(inner)


def _invalid(program: Any) -> str | None:
    if isinstance(program, ExportedProgram):
        try:
            program.validate()
        except Exception as error:
            return one_line(error)
    return None


@invariant
def code(trial: Trial) -> Told | None:
    """``forward`` runs the graph: the module is recompiled, and so are the graph modules inside it.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.code(lambda module: None, random_graph(7))
    """
    if trial.recorded[1].stale:
        return Told("`forward` does not run what the graph says", "call module.recompile() before you return")
    if stale := [path for path, inner in _inner_records(trial) if inner.stale]:
        what = f"`forward` of `{stale[0]}` does not run what its graph says"
        return Told(what, "call module.recompile() after the last edit: it recompiles the graphs inside too")
    before, after = (_local_functions(module) for module in (trial.before, trial.after))
    if after and not before:
        what = f"`{after[0].name}` calls a function that cannot be imported by name, so the pickle cannot be loaded"
        return Told(what, "define it at the top level of a module", after[0].name, advice=True)
    if (error := _not_saved(trial.after)) and not _not_saved(trial.before):
        return Told(f"the module cannot be pickled: {error}", "store nothing in it that cannot be pickled", advice=True)
    return None


def _not_saved(module: fx.GraphModule) -> str | None:
    """What prevents a module from being pickled, apart from its tensors and its graph."""

    class Pickler(pickle.Pickler):
        def persistent_id(self, held: Any) -> Any:
            return "a tensor" if isinstance(held, Tensor) else None

    try:
        Pickler(io.BytesIO()).dump({name: held for name, held in vars(module).items() if name != "_graph"})
    except Exception as error:
        return one_line(error)
    return None


def _local_functions(module: fx.GraphModule) -> list[fx.Node]:
    found = (node for node in module.graph.nodes if isinstance(node.target, types.FunctionType))
    return [node for node in found if "<" in node.target.__qualname__]


@invariant
def no_dead_nodes(trial: Trial) -> Told | None:
    """The pass leaves no new dead node behind.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.no_dead_nodes(lambda module: None, random_graph(7))
    """
    before, after = ([node for node in found if "dead" in node.notes] for found in trial.recorded)
    names = {node.name for node in before}
    # The replacement of a dead node is also dead.
    if len(after) > len(before):
        left = next(node for node in after if node.name not in names)
        # This is only advice: dead nodes cost time but are not wrong, and many passes leave them to
        # eliminate_dead_code().
        cure = "erase a node once its users are gone"
        return Told(f"nothing uses `{left.name}` any more ({left.call})", cure, left.name, advice=True)
    return None


@invariant
def meta(trial: Trial) -> Told | None:
    """The meta of each node is correct; an old node keeps its keys, and a new one has those that all nodes have.

    A wrong shape or dtype is a fault, because the next pass relies on it. Missing meta is reported only as advice.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.meta(lambda module: None, random_graph(7))
    """
    if untrue := _meta_untrue(trial) or _meta_shared(trial):
        return untrue
    ran = trial.first
    computing = [told for op, told in ran.nodes.values() if op not in ("placeholder", "output", "get_attr")]
    targets = {node.name: node.target for node in trial.before.graph.nodes}
    common = set.intersection(*(set(told) for told in computing)) if computing else set()
    for node in ran.after.graph.nodes:
        kept = ran.nodes.get(node.name)
        if kept is not None and kept[0] == node.op:
            if lost := sorted(set(kept[1]) - set(node.meta)):
                cure = "copy the meta of a node to the one that replaces it"
                return Told(f"`{node.name}` has lost meta[{lost[0]!r}]", cure, node.name, advice=True)
            if node.meta.get("stack_trace") != kept[1].get("stack_trace") and node.target == targets.get(node.name):
                what = f"`{node.name}`, which has not changed, names a different line of code in meta['stack_trace']"
                return Told(what, "errors and profilers show it: leave it as it is", node.name, advice=True)
        elif node.op not in ("placeholder", "output", "get_attr") and (lacking := sorted(common - set(node.meta))):
            return Told(
                f"the new node `{node.name}` has no meta[{lacking[0]!r}], which every other node has",
                "copy the meta of the node that it replaces, and correct what is different",
                node.name,
                advice=True,
            )
    return None


def _meta_shared(trial: Trial) -> Told | None:
    """Whether two nodes share one dict as their meta, so that a write to one changes the other."""
    owners: dict[int, fx.Node] = {}
    for node in trial.after.graph.nodes:
        first = owners.setdefault(id(node.meta), node)
        if first is not node:
            what = f"`{first.name}` and `{node.name}` share one dict as their meta: a write into one changes the other"
            return Told(what, "give a new node a copy, node.meta = dict(old.meta)", node.name)
    return None


class _MetaChecker(fx.Interpreter):
    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.untrue: dict[str, str] = {}
        self.strides: dict[str, str] = {}
        self.sizes: dict[Any, int] = {}

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        told = n.meta.get("val")
        if n.op == "placeholder" and isinstance(value, Tensor) and isinstance(told, Tensor):
            for size, now in zip(told.shape, value.shape, strict=False):
                if isinstance(size, torch.SymInt) and size.node.expr.is_symbol:
                    self.sizes[size.node.expr] = now
        if said := _wrong_meta(n.meta, value, self.sizes):
            self.untrue[n.name] = said
        elif said := _strides_told(n.meta, value):
            self.strides[n.name] = said
        return value

    @classmethod
    def of(cls, module: fx.GraphModule, inputs: Sequence[Any]) -> _MetaChecker:
        telling = cls(module)
        with kept(module), torch.no_grad():
            telling.run(*ordered(module, copy.deepcopy(inputs)))
        return telling


def _meta_untrue(trial: Trial) -> Told | None:
    """Whether the meta of a node does not match its value, although it did before."""
    told = [node.meta for node in trial.after.graph.nodes]
    if not any("tensor_meta" in one or "val" in one for one in told):
        return None
    before = _MetaChecker.of(trial.before, trial.inputs)
    try:
        after = _MetaChecker.of(trial.after, trial.inputs)
    except Exception as error:
        raise NotCheckedError(f"the returned module raises {one_line(error)}") from error
    cure = "correct it where a node now computes something else"
    for kind, was in (("untrue", before.untrue), ("strides", before.strides)):
        for name, said in getattr(after, kind).items():
            if name not in was:
                # A backend reads strides from it; many passes leave them to a later propagation.
                return Told(f"the meta of `{name}` gives {said}", cure, name, advice=kind == "strides")
    return None


def _wrong_meta(meta: dict[str, Any], value: Any, sizes: dict[Any, int]) -> str | None:
    for key in ("tensor_meta", "val"):
        told = meta.get(key)
        if isinstance(value, Tensor) and not value.is_nested and hasattr(told, "shape") and hasattr(told, "dtype"):
            known = [known_size(size, sizes) for size in told.shape]
            if None not in known and known != list(value.shape):
                return f"the shape {tuple(known)}, but its value has {tuple(value.shape)}"
            if told.dtype != value.dtype:
                return f"the dtype {told.dtype}, but its value has {value.dtype}"
    return None


def _strides_told(meta: dict[str, Any], value: Any) -> str | None:
    """Strides in `val` that the value does not have, as a clause; a dimension of size one may have any stride."""
    told = meta.get("val")
    if not (isinstance(told, Tensor) and dense(value)) or told.layout != value.layout or 0 in value.shape:
        return None
    pairs = zip(value.shape, told.stride(), value.stride(), strict=True)
    if all(size == 1 or not isinstance(old, int) or old == new for size, old, new in pairs):
        return None
    return f"the strides {tuple(told.stride())}, but its value has {value.stride()}"


@invariant
def inputs_kept(trial: Trial) -> Told | None:
    """The inputs have the same names, order and defaults.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.inputs_kept(lambda module: None, random_graph(7))
    """
    before, after = (
        [(node.target, node.args) for node in module.graph.nodes if node.op == "placeholder"]
        for module in (trial.before, trial.after)
    )
    if before == after:
        types = ([node.type for node in one.graph.find_nodes(op="placeholder")] for one in (trial.before, trial.after))
        if any(old is not None and new is None for old, new in zip(*types, strict=True)):
            what = "an input has lost its annotation, which torch.jit.script reads"
            return Told(what, "give a new placeholder the `type` of the old one", advice=True)
        return None
    old, new = (", ".join(_signature(*one) for one in found) for found in (before, after))
    return Told(f"the module takes ({new}) instead of ({old})", "callers pass inputs by name, so keep each placeholder")


def _signature(target: Any, default: tuple[Any, ...]) -> str:
    return f"{target}={default[0]!r}" if default else str(target)
