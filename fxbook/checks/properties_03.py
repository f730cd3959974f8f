"""What the exercises of chapter 03 demand of a graph; each fault is told with its node and where to read."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

from torch import fx, nn

from fxbook.asking import explained
from fxbook.asking.families import ADD, MUL, RELU, Family, family
from fxbook.asking.rule import Violation
from fxbook.asking.view import CaseView
from fxbook.checks.legacy import pairs
from fxbook.graph.record import GraphRecord, NodeRecord

_HERE = "03_replacement"
DROPOUT = Family("nn.Dropout", modules=frozenset({"torch.nn.Dropout"}))
ADDCMUL = family("addcmul")
POOL_MODULE = "torch.nn.AdaptiveAvgPool2d"
POOL = Family("the function adaptive_avg_pool2d", frozenset({"torch.nn.functional.adaptive_avg_pool2d"}))
MAX_POOL = family("max_pool2d", modules=(nn.MaxPool2d,))


# ---- in the learner's half -------------------------------------------------------------------------------------------


def with_its_graph(answer: Any, traced: fx.GraphModule) -> Any:
    """Use the answer; of a graph with a node that lacks arguments, which has no code, tell by the graph."""
    try:
        return answer(traced)
    except IndexError as error:
        if "Replacement index" not in str(error):
            raise
        return traced


# ---- what every replacement owes -------------------------------------------------------------------------------------


def well_formed(case: CaseView) -> Violation | None:
    """As :func:`explained.well_formed`; circles and erased nodes are explained in this chapter."""
    found = explained.well_formed(case)
    if found is None or found.node is None:
        return found
    node = case.nodes[found.node]
    if _in_circle(case, node):
        found = dataclasses.replace(found, look=f"{_HERE}#every-circle-has-one-cause")
        if node.faults[0] != "reads itself":
            found = dataclasses.replace(found, message=f"{found.message[:-1]}, and is upstream of it: a circle.")
    elif node.faults and node.faults[0].endswith("not in this graph"):
        found = dataclasses.replace(found, look=f"{_HERE}#erasing-refuses-then-forgets")
    return found


def _in_circle(case: CaseView, node: NodeRecord) -> bool:
    met: set[int] = set()
    waiting = list(node.inputs)
    while waiting:
        read = waiting.pop()
        if read not in met:
            met.add(read)
            waiting += case.nodes[read].inputs
    return node.index in met


def arguments_kept(case: CaseView) -> Violation | None:
    """What is called as before is passed as many arguments as before, and nothing new is passed ``None`` for a node."""
    for node, before in pairs(case):
        if (node.op, node.target) == (before.op, before.target) and _passed(node) < _passed(before):
            message = f"Node `{node.name}` has {_passed(node)} of its {_passed(before)} arguments left: `{node.call}`."
            anchor = "indexerror-replacement-index-1-out-of-range-for-positional-args-tuple"
            return Violation(message, node.index, f"{_HERE}#{anchor}")
    for node, origin in zip(case.nodes, case.origins, strict=True):
        if origin is None and isinstance(node.args, dict) and None in node.args.get("tuple", ()):
            message = f"Node `{node.name}` is passed None where it needs a node: `{node.call}`."
            anchor = "typeerror-gelu-argument-input-position-1-must-be-tensor-not-nonetype"
            return Violation(message, node.index, f"{_HERE}#{anchor}")
    return None


def _passed(node: NodeRecord) -> int:
    args = node.args.get("tuple", []) if isinstance(node.args, dict) else node.args
    return len(args) + len(node.kwargs.get("dict", []))


def nothing_dead(case: CaseView) -> Violation | None:
    """No node is left that nobody reads and that has no effect; inputs may stay unused."""
    for node in case.nodes:
        if not node.users and node.op not in ("placeholder", "output") and _effect(case, node) is None:
            message = f"Node `{node.name}` is left: nothing reads its result."
            return Violation(message, node.index, f"{_HERE}#three-steps-in-this-order")
    return None


def _effect(case: CaseView, node: NodeRecord) -> str | None:
    """What a node does beside its result; ``None`` for nothing."""
    said = {"in place": "works in place", "side effect": "has a side effect"}
    noted = next((said[note] for note in node.notes if note in said), None)
    return noted or ("collects statistics" if _collects(case.model, node) else None)


def _collects(model: nn.Module, node: NodeRecord) -> bool:
    if node.op != "call_module":
        return False
    module = dict(model.named_modules(remove_duplicate=False)).get(node.target)
    return getattr(module, "running_mean", None) is not None


def effects_kept(case: CaseView) -> Violation | None:
    """What works in place, draws random numbers or collects statistics in the graph given is still there."""
    present = set(case.origins)
    for before in case.before:
        if before.index in present or before.op in ("placeholder", "output"):
            continue
        if effect := _effect(case, before):
            message = f"Node `{before.name}` is gone, which {effect}: `{before.call}`{_place(case, before)}."
            return Violation(message, None, f"{_HERE}#say-what-has-an-effect")
    return None


def _place(case: CaseView, before: NodeRecord) -> str:
    """Where a node that is gone stood: the report draws the graph without it."""
    return f", behind `{case.before.nodes[before.index - 1].name}` in the graph given" if before.index else ""


def no_leftovers(case: CaseView) -> Violation | None:
    """The result holds no submodule that it does not use."""
    used = [node.target for node in case.nodes if node.op in ("call_module", "get_attr")]
    for path in case.modules:
        if not any(f"{target}.".startswith(f"{path}.") or path.startswith(f"{target}.") for target in used):
            message = f"The result still holds the submodule `{path}`, which no node calls."
            return Violation(message, None, f"{_HERE}#a-function-by-a-module-a-module-by-a-function")
    return None


def keeps_modules(case: CaseView) -> Violation | None:
    """Each submodule that was called is still what it was, not overwritten by a new one."""
    for node, before in pairs(case):
        if node.op == before.op == "call_module" and node.target == before.target and node.kind != before.kind:
            message = f"Node `{node.name}` now calls a {node.kind}: its submodule `{node.target}` was overwritten."
            read = f"{_HERE}#silent-add_submodule-has-replaced-a-layer-or-changed-the-model"
            return Violation(message, node.index, read)
    return None


# ---- one exercise each -----------------------------------------------------------------------------------------------


def dropouts_taken_out(case: CaseView) -> Violation | None:
    """No node that called a dropout is left, whatever it calls now; nothing new stands in its place; others stay."""
    now = {before.index: node for node, before in pairs(case)}
    for before in case.before:
        node = now.get(before.index)
        if before in DROPOUT and node:
            if node in DROPOUT:
                return Violation(f"Node `{node.name}` still calls an nn.Dropout.", node.index)
            message = f"Node `{node.name}` is still there, and calls a {node.kind}: it was to be taken out."
            return Violation(message, node.index)
        if before not in DROPOUT and not node and before.op != "placeholder":
            what = f"calls {before.kind}" if before.kind else f"is no dropout: `{before.call}`"
            return Violation(f"Node `{before.name}` is gone, which {what}: only nn.Dropout was to be taken out.")
    new = next((node for node, origin in zip(case.nodes, case.origins, strict=True) if origin is None), None)
    if new:
        return Violation(f"Node `{new.name}` is new: what read a dropout was to read its input.", new.index)
    return None


def reads_input_of_dropout(case: CaseView) -> Violation | None:
    """What read a dropout reads what that dropout read."""
    now = {before.index: node for node, before in pairs(case)}
    for node, before in pairs(case):
        for found, was in zip(node.inputs, before.inputs, strict=False):
            wanted = was
            while case.before.nodes[wanted] in DROPOUT:
                wanted = case.before.nodes[wanted].inputs[0]
            if wanted in now and now[wanted].index != found:
                read, asked = case.nodes[found].name, now[wanted].name
                dropped = f": it read the dropout of `{asked}`" if wanted != was else f": it read `{asked}`"
                return Violation(f"Node `{node.name}` reads `{read}`{dropped}.", node.index)
    return None


def pools_are_modules(case: CaseView) -> Violation | None:
    """Each call of the function has become a call of the module, which gets the data only."""
    asked = sum(node in POOL for node in case.before)
    calling = _pool_modules(case)
    wrong = next((node for node in calling if len(node.positional) + len(node.kwargs["dict"]) != 1), None)
    if wrong:
        passed = wrong.call.partition("(")[2]
        message = f"Node `{wrong.name}` passes ({passed} to the module, which takes the data only."
        return Violation(message, wrong.index)
    if len(calling) != asked:
        return Violation(f"The graph has {len(calling)} calls of nn.AdaptiveAvgPool2d: {asked} were asked.")
    return None


def sizes_kept(case: CaseView) -> Violation | None:
    """Calls of different sizes call different modules, each of the size of its function."""
    asked = [node for node in case.before if node in POOL]
    sizes = list(dict.fromkeys(node.call.partition(", ")[2].removesuffix(")") for node in asked))
    calling = _pool_modules(case)
    held = len({node.target for node in calling})
    if held < len(sizes):
        message = f"Calls of {len(sizes)} sizes share {held} module{'' if held == 1 else 's'}."
        return Violation(message, calling[0].index if calling else None)
    pooled = Counter(case.before.nodes[index].name for node in asked for index in node.inputs)
    if pooled == Counter(case.nodes[index].name for node in calling for index in node.inputs):
        return Violation(f"The modules pool to other sizes than the functions did: {', '.join(sizes)}.")
    return None


def _pool_modules(case: CaseView) -> list[NodeRecord]:
    return [node for node in case.nodes if node.op == "call_module" and node.kind == POOL_MODULE]


def swapped_only(case: CaseView) -> Violation | None:
    """Pools and ReLUs that are no such pair, and all other nodes, read what they read before."""
    given = case.before.nodes
    pool_of = {node.inputs[0]: node.index for node in given if node in MAX_POOL and _swaps(case.before, node)}
    relu_of = {pool: relu for relu, pool in pool_of.items()}
    now = {before.index: node for node, before in pairs(case)}
    for node, before in pairs(case):
        if before.index in relu_of:
            asked = [given[relu_of[before.index]].inputs[0]]
        else:
            asked = [pool_of[before.index]] if before.index in pool_of else list(before.inputs)
        # Whoever is to read a pool reads the ReLU behind it, but for that ReLU.
        asked = asked if before.index in pool_of else [relu_of.get(index, index) for index in asked]
        if not all(index in now for index in asked) or [now[index].index for index in asked] == list(node.inputs):
            continue
        reads = ", ".join(f"`{case.nodes[index].name}`" for index in node.inputs) or "nothing"
        wanted = ", ".join(f"`{now[index].name}`" for index in asked)
        return Violation(
            f"Node `{node.name}` reads {reads}, where {wanted} was asked{_stays(case, before)}.", node.index
        )
    return None


def _swaps(graph: GraphRecord, pool: NodeRecord) -> bool:
    relu = graph.nodes[pool.inputs[0]]
    return relu in RELU and relu.users == (pool.index,)


def _stays(case: CaseView, before: NodeRecord) -> str:
    if before in MAX_POOL and not _swaps(case.before, before):
        read = case.before.nodes[before.inputs[0]]
        why = "is no ReLU" if read not in RELU else f"has {len(read.users)} readers"
        return f": `{read.name}` {why}"
    return f": it has {len(before.users)} readers" if before in RELU and len(before.users) > 1 else ""


def pools_before_relus(case: CaseView) -> Violation | None:
    """No max-pool reads a ReLU that nothing else reads, and there are as many of both as before."""
    for kind in (MAX_POOL, RELU):
        count, asked = (sum(node in kind for node in graph) for graph in (case.nodes, case.before))
        if count != asked:
            return Violation(f"The graph has {count} nodes that call {kind.label}: it had {asked}.")
    for node in case.nodes:
        read = case.nodes[node.inputs[0]] if node.inputs else None
        if node in MAX_POOL and read in RELU and _readers(case.nodes, read) == {node.index}:
            return Violation(f"Node `{node.name}` still pools what `{read.name}` gives.", node.index)
    return None


def _readers(nodes: tuple[NodeRecord, ...] | GraphRecord, read: NodeRecord) -> set[int]:
    return {node.index for node in nodes if read.index in node.inputs}


def _why_not(graph: GraphRecord, addition: NodeRecord) -> str | None:
    """Why an addition is not to be fused with a product that it reads; ``None`` where it is."""
    operands = [graph.nodes[index] for index in dict.fromkeys(addition.inputs)]
    products = [node for node in operands if node in MUL]
    if not products:
        return "adds no product"
    if len(addition.inputs) != 2:
        return f"adds a number to `{products[0].name}`"
    if len(operands) == 1:
        return f"adds `{operands[0].name}` to itself"
    if any(len(node.inputs) == 2 and node.users == (addition.index,) for node in products):
        return None
    shared = next((node for node in products if node.users != (addition.index,)), None)
    if shared:
        return f"adds `{shared.name}`, which {len(shared.users)} nodes read"
    return f"adds `{products[0].name}`, a product with a number"


def products_fused(case: CaseView) -> Violation | None:
    """Each product that only an addition reads is fused with it, and no other."""
    assert case.graph is not None
    left = next((node for node in case.nodes if node in ADD and _why_not(case.graph, node) is None), None)
    if left:
        message = f"Node `{left.name}` still adds a product that nothing else reads."
        return Violation(message, left.index)
    now = {before.index: node for node, before in pairs(case)}
    for before in case.before:
        reason = _why_not(case.before, before) if before in ADD else None
        after = now.get(before.index)
        if reason and (after is None or after not in ADD):
            return Violation(f"Addition `{before.name}` was replaced: it {reason}.")
    count = sum(node in ADDCMUL for node in case.nodes)
    asked = sum(node in ADD and _why_not(case.before, node) is None for node in case.before)
    if count != asked:
        return Violation(f"The graph calls addcmul {count} times: {asked} were asked.")
    return None


def factors_kept(case: CaseView) -> Violation | None:
    """What addcmul multiplies was multiplied before."""
    products = [list(node.inputs) for node in case.before if node in MUL and len(node.inputs) == 2]
    for node in case.nodes:
        if node not in ADDCMUL or len(node.inputs) != 3:
            continue
        factors = [case.origins[index] for index in node.inputs[1:]]
        # What was not in the graph given is another addcmul, which may stand for any node.
        orders = (zip(factors, order, strict=True) for product in products for order in (product, product[::-1]))
        if not any(all(found in (None, asked) for found, asked in order) for order in orders):
            names = " and ".join(f"`{case.nodes[index].name}`" for index in node.inputs[1:])
            return Violation(f"Node `{node.name}` multiplies {names}, which the model does not.", node.index)
    return None


def inputs_kept(case: CaseView) -> Violation | None:
    """The inputs are those of the graph given, whether something reads them or not."""
    asked, found = ([node.target for node in graph if node.op == "placeholder"] for graph in (case.before, case.nodes))
    gone = next((name for name in asked if name not in found), None)
    if gone is None:
        return None
    return Violation(f"Input `{gone}` is gone: callers would no longer be able to pass it.")
