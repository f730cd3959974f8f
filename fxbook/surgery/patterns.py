"""Replace the matches of a pattern only if moving them changes nothing; log why a match stays.

`torch.fx.replace_pattern` inserts the new nodes before the first user of a match. So a match moves past every node in
between, and the values stay the same only if none of these nodes writes, changes a mode or, like the match, draws
random numbers.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import fx, nn
from torch._higher_order_ops import effects
from torch.fx.passes.infra.pass_base import PassResult
from torch.fx.passes.tools_common import stable_topological_sort
from torch.fx.passes.utils.matcher_utils import InternalMatch
from torch.fx.subgraph_rewriter import replace_pattern_with_filters

from fxbook.surgery.effects import Effect, effect

# The effect that `register_effect` declared; torch 2.9 lacks it.
_registered = getattr(effects, "_get_effect", lambda _: None)
Filter = Callable[[InternalMatch, fx.Graph, fx.Graph], bool]
_log = logging.getLogger(__name__)
_FIXED = (Effect.WRITES, Effect.MODE, Effect.UNKNOWN)
_READS = ("placeholder", "get_attr")
# Public functions in these modules compute a value; some draw random numbers.
_COMPUTING = ("torch.nn.functional", "torch._C._nn", "torch._C._linalg", "torch._C._special", "torch._C._fft")
_OF_SIZES = (torch.sym_float, torch.sym_int, torch.sym_ite, torch.sym_max, torch.sym_min, torch.sym_not)


def fuse_pattern(
    module: fx.GraphModule,
    pattern: Callable[..., Any] | fx.Graph | nn.Module,
    replacement: Callable[..., Any] | fx.Graph | nn.Module,
    *,
    filters: Iterable[Filter] = (),
) -> PassResult:
    """Replace each match of a pattern, and copy `meta` to the new results.

    A match that stays is logged with its reason, at level INFO, by the logger ``fxbook.surgery.patterns``.

    Args:
        module: from any front end; it is edited.
        pattern: a function, or a graph recorded in the dialect and the dtype of the module, that holds no tensors.
        replacement: the same, with the pattern's parameters and as many results. It must return new memory, or a view,
            wherever the pattern does.
        filters: each says whether a match may be replaced, like the `match_filters` of `replace_pattern_with_filters`.

    Raises:
        ValueError: the pattern or the replacement holds a tensor or a module, or the replacement returns a number.
    """
    made = _as_graph(replacement)
    _results_of(made)  # raises before anything is edited
    asked: list[Filter] = [_may_move, *filters]

    def accepts(match: InternalMatch, graph: fx.Graph, pattern: fx.Graph) -> bool:
        return all(_accepts(one, match, graph, pattern) for one in asked)

    def with_meta(match: InternalMatch, *_: fx.Graph) -> fx.Graph:
        new = copy.deepcopy(made)
        for node, old in zip(_results_of(new), match.returning_nodes, strict=True):
            node.meta = dict(old.meta)
        return new

    found = replace_pattern_with_filters(
        module, _as_graph(pattern), match_filters=[accepts], replacement_callback=with_meta
    )
    if any(node < read for node in module.graph.nodes for read in node.all_input_nodes):
        stable_topological_sort(module)  # a new graph, without what `torch.compile` notes on the nodes
    module.graph.lint()
    module.recompile()
    return PassResult(module, bool(found))


def does(node: fx.Node) -> Effect | None:
    """What a call does besides returning a value, as far as that depends on the order of calls.

    Like `effect`, but operators from other libraries have the effects that their authors declared: by schema, tags, and
    `register_effect`. A public torch function that `effect` does not know is assumed to draw random numbers.
    """
    target, what = node.target, effect(node)
    if what is not Effect.UNKNOWN:
        return what
    if isinstance(target, torch._ops.OpOverloadPacket) and len(overloads := target.overloads()) == 1:
        target = getattr(target, overloads[0])  # a trace records ``torch.ops.ns.op``; `effect` knows overloads only
    if isinstance(target, torch._ops.OpOverload):
        return Effect.WRITES if target._schema.is_mutable else _declared(target)
    if isinstance(target, torch._ops.HigherOrderOperator) and target.name().startswith("auto_functionalized"):
        return _declared(node.args[0], returns=True)  # it returns what the operator writes
    if target in _OF_SIZES:
        return None
    name, home = getattr(target, "__name__", "_"), getattr(target, "__module__", None)
    computes = home in _COMPUTING and "_" not in (name[0], name[-1]) and node.kwargs.get("out") is None
    return Effect.RANDOM if computes else Effect.UNKNOWN


def _declared(operator: Any, *, returns: bool = False) -> Effect | None:
    if torch.Tag.nondeterministic_seeded in operator.tags:
        return Effect.RANDOM
    types = [argument.type for argument in operator._schema.arguments]
    declares_more = (
        not (operator._schema.returns or returns)  # it is called for its effect
        or _registered(operator) is not None
        or operator in fx.node._side_effectful_functions
        or "c10d" in operator.namespace  # processes wait for each other
        or any(isinstance(kind, torch.ClassType) for kind in types)  # an object with a state
    )
    return Effect.UNKNOWN if declares_more else None


def why_it_stays(match: InternalMatch, graph: fx.Graph) -> str | None:
    """Why a match must not move to its first user; ``None`` if moving it changes nothing."""
    inside = [node for key, node in match.nodes_map.items() if key.op not in ("placeholder", "output")]
    users = [user for node in match.returning_nodes for user in node.users]
    last = max(*inside, min(users, default=graph.output_node()))
    passed = [node for node in graph.nodes if min(inside) < node < last and node not in inside]
    fixed = next((node for node in inside if does(node) in _FIXED), None)
    if fixed is not None and (other := next((node for node in passed if node.op not in _READS), None)):
        return f"{fixed} ({does(fixed)}) would pass {other}"
    if other := next((node for node in passed if does(node) in _FIXED), None):
        return f"it would pass {other} ({does(other)})"
    mine, others = ([node for node in nodes if does(node) is Effect.RANDOM] for nodes in (inside, passed))
    if others and len(mine) + len(others) > 1:
        return f"{[*mine, *others][0]} and {others[-1]} may draw random numbers, and would change places"
    listed: list[fx.Node] = []
    fx.node.map_arg([value for value in match.placeholder_nodes if type(value) is not fx.Node], listed.append)
    return f"a parameter has bound a list, with {listed[0]} in it" if listed else None


def _may_move(match: InternalMatch, graph: fx.Graph, _: fx.Graph) -> bool:
    why = why_it_stays(match, graph)
    if why is not None:
        _log.info("%s stays: %s", match.returning_nodes[0], why)
    return why is None


def _accepts(one: Filter, match: InternalMatch, graph: fx.Graph, pattern: fx.Graph) -> bool:
    accepted = one(match, graph, pattern)
    if not accepted and one is not _may_move:
        _log.info("%s stays: %s rejects it", match.returning_nodes[0], getattr(one, "__name__", one))
    return accepted


def _as_graph(program: Callable[..., Any] | fx.Graph | nn.Module) -> fx.Graph:
    """The graph of a function or a module, which must not hold tensors or modules."""
    if not isinstance(program, fx.Graph | fx.GraphModule):
        program = fx.symbolic_trace(program)
    graph = program if isinstance(program, fx.Graph) else program.graph
    for node in graph.nodes:
        if node.op in ("get_attr", "call_module"):
            raise ValueError(f"{node} is held by the program: pass it as a parameter")
    return graph


def _results_of(graph: fx.Graph) -> list[fx.Node]:
    results = graph.output_node().args[0]
    results = results if isinstance(results, tuple | list) else [results]
    if not all(isinstance(result, fx.Node) for result in results):
        raise ValueError("a replacement must not return numbers or nested lists")
    return list(results)
