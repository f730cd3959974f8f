"""Run a pass on a copy, and record what it did to the graph and to everything else."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor, fx, nn
from torch.export import ExportedProgram
from torch.fx.passes.infra.pass_base import PassResult
from torch.utils import _pytree as pytree

from fxbook.graph.settings import Settings
from fxbook.graph.stored import children_of, held_by, settings_of
from fxbook.passes.calling import Inputs
from fxbook.passes.copying import copied
from fxbook.passes.outcome import dense, one_line, same_bytes, shared_copy, tensors_of
from fxbook.passes.process import Process
from fxbook.passes.state import Otherwise, replaced
from fxbook.passes.watching import watched

Pass = Callable[[Any], Any]
Tried = fx.GraphModule | ExportedProgram


@dataclasses.dataclass(frozen=True)
class Ran:
    """One run of a pass on a copy: what it returned, the resulting module, and its side effects.

    ``made`` is that module, or the program that it belongs to. ``nodes`` holds the opcode and the meta of each node in
    the given graph, by name. ``besides`` lists side effects, as sentences without their full stop. ``traced`` says
    which functions traced the module again, ``replaced`` which parameter was replaced without need, and ``in_place``
    whether the result is the given module.
    """

    returned: Any
    after: fx.GraphModule
    nodes: dict[str, tuple[str, dict[str, Any]]]
    besides: tuple[str, ...]
    traced: tuple[str, ...]
    replaced: Otherwise | None
    in_place: bool
    made: Tried


class PassRaisedError(Exception):
    """A pass raises an error; the message says which error, and in which run."""

    def __init__(self, error: Exception, which: str = "") -> None:
        super().__init__(f"the pass raises {one_line(error)}" + (f", in its second run, {which}" if which else ""))
        self.error, self.again = error, bool(which)


class WrongReturnError(TypeError):
    """A pass returns something that is not a module."""


def ran(
    run: Pass,
    source: Tried,
    inputs: Inputs,
    seed: int,
    which: str,
    leave_out: Callable[[str], None],
    *,
    shares: bool = False,
) -> Ran:
    """Run the pass on a copy; afterwards, the source shows what the pass wrote to, unless the copy shares memory."""
    if isinstance(source, fx.GraphModule):
        given = shared_copy(source, apart=True) if shares else copied(source)
    else:
        given = copy.deepcopy(source)
    parameters = dict(graph_of(given).named_parameters(remove_duplicate=False))
    nodes = {node.name: (node.op, dict(node.meta)) for node in graph_of(given).graph.nodes}
    originals, tensors = _stored(source), _stored(given)
    own_inputs = [leaf for leaf in pytree.tree_leaves(inputs) if isinstance(leaf, Tensor)]
    for place, leaf in enumerate(own_inputs):
        if dense(leaf):
            originals[f"input {place}"], tensors[f"input {place}"] = leaf.detach().clone(), leaf
        else:
            leave_out(f"whether the pass writes into input {place}")
    wants = {name: held.requires_grad for name, held in tensors.items()}
    # The traced model holds the same modules.
    called = dict(_called(given)) if isinstance(given, fx.GraphModule) else {}
    looks = {path: _look(module) for path, module in called.items()}
    process = Process(seed)
    before = Settings("the pass")
    traced: list[str] = []
    try:
        with watched(graph_of(given), traced):
            returned = run(given)
        besides = [*before.switched(), *process.side_effects()]
    except Exception as error:
        raise PassRaisedError(error, which) from error
    finally:
        before.put_back()
        process.put_back()
    for name, held in tensors.items():
        if not _same(originals[name], held, name, leave_out):
            besides.append(f"{name} holds different values: it is written into, not replaced")
        elif held.requires_grad != wants[name]:
            besides.append(f"{name} has a different requires_grad")
    for path, module in called.items():
        if said := _otherwise(looks[path], _look(module)):
            besides.append(f"the module `{path}`, which others may hold too, has {said}")
    made = returned_program(returned, given) if isinstance(given, ExportedProgram) else None
    after = returned_module(returned, given) if made is None else made.module()
    other = replaced(parameters, given, after) if isinstance(given, fx.GraphModule) else None
    return Ran(
        returned,
        after,
        nodes,
        tuple(besides),
        tuple(traced),
        other,
        after is given,
        after if made is None else made,
    )


def _same(before: Tensor, now: Tensor, name: str, leave_out: Callable[[str], None]) -> bool:
    try:
        return before.shape == now.shape and before.dtype == now.dtype and same_bytes(before, now)
    except Exception:
        leave_out(f"whether the pass writes into {name}")
        return True


def graph_of(tried: Any) -> fx.GraphModule:
    """The graph module that the pass is tried on. Raises TypeError if there is none."""
    if isinstance(tried, fx.GraphModule):
        return tried
    if isinstance(tried, ExportedProgram):
        return tried.module()
    kind = type(tried).__name__
    if isinstance(getattr(tried, "graph", None), fx.Graph):
        cure = "pass program.module() of the ExportedProgram that it was made from"
    elif isinstance(tried, fx.Graph):
        cure = "pass the module that owns it; for a pass over a Graph, over_graph(pass_)"
    elif isinstance(tried, nn.Module) or callable(tried):
        cure = "trace it, with torch.fx.symbolic_trace(model)"
    else:
        cure = "pass the module, and the inputs after it"
    raise TypeError(f"a pass is tried on a GraphModule or an ExportedProgram, got {kind}: {cure}")


def _stored(tried: Tried) -> dict[str, Tensor]:
    held = tensors_of(tried) if isinstance(tried, nn.Module) else {**tried.state_dict, **tried.constants}
    return {f"the weight `{name}`": one for name, one in held.items() if isinstance(one, Tensor)}


def returned_module(returned: Any, given: fx.GraphModule) -> fx.GraphModule:
    """The module that a pass returns, in any of the accepted forms. Raises TypeError for any other return value."""
    match returned:
        case None:
            return given
        case PassResult(graph_module=fx.GraphModule() as module) | (fx.GraphModule() as module):
            return module
        case fx.Graph():
            return fx.GraphModule(given, returned)
    raise WrongReturnError(f"the pass returns {type(returned).__name__}: return PassResult(module, modified)")


def returned_program(returned: Any, given: ExportedProgram) -> ExportedProgram:
    """The program that a pass returns, either directly or as the ``exported_program`` of its result.

    Raises:
        TypeError: the pass returns something else; the message says what to return.
    """
    found = given if returned is None else getattr(returned, "exported_program", returned)
    if isinstance(found, ExportedProgram):
        return found
    raise WrongReturnError(
        f"the pass returns {type(returned).__name__} for an ExportedProgram: return the program, or give "
        "program.module() to a pass over a GraphModule"
    )


# ---- modules that others may hold too --------------------------------------------------------------------------------


def _called(module: fx.GraphModule) -> Iterator[tuple[str, nn.Module]]:
    for path in dict.fromkeys(node.target for node in module.graph.nodes if node.op == "call_module"):
        yield from module.get_submodule(path).named_modules(prefix=path)


def _look(module: nn.Module) -> dict[str, Any]:
    hooks = sum(len(getattr(module, name)) for name in vars(module) if name.endswith("_hooks"))
    return {
        "a different class": type(module),
        "different settings": settings_of(module),
        "a different submodule": [(name, id(child)) for name, child in children_of(module)],
        "a different weight": [(name, id(held)) for name, held in held_by(module)],
        "a different number of hooks": hooks,
        "a different mode": module.training,
        "a `forward` of its own": "forward" in vars(module),
    }


def _otherwise(before: dict[str, Any], now: dict[str, Any]) -> str:
    return " and ".join(what for what in before if before[what] != now[what])
