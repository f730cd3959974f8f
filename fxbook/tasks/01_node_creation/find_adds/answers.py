"""Answers to 01-find-adds."""

import operator

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

CALLED = {"call_function": (operator.add, operator.iadd, torch.add), "call_method": ("add", "add_")}


def adds(node):
    return node.target in CALLED.get(node.op, ()) and node.kwargs.get("alpha", 1) == 1


@right
def looks_each_target_up_and_sorts(gm):
    """Nodes compare by their position in the graph."""
    found = []
    for opcode, targets in CALLED.items():
        for target in targets:
            found += gm.graph.find_nodes(op=opcode, target=target)
    return sorted(node for node in found if node.kwargs.get("alpha", 1) == 1)


@right
def matches_the_opcode(gm):
    found = []
    for node in gm.graph.nodes:
        match node.op, node.target, node.kwargs:
            case _, _, {"alpha": alpha} if alpha != 1:
                continue
            case ("call_method", "add" | "add_", _):
                found.append(node)
            case ("call_function", target, _) if target in (operator.add, operator.iadd, torch.add):
                found.append(node)
    return tuple(found)


@right
def looks_up_pairs(gm):
    pairs = {(opcode, target) for opcode, targets in CALLED.items() for target in targets}
    called = filter(lambda node: (node.op, node.target) in pairs, gm.graph.nodes)
    return [node for node in called if not ("alpha" in node.kwargs and node.kwargs["alpha"] != 1)]


@right
class RecordsWhatATransformerRuns:
    """A Transformer runs each node on proxies, so it needs no input."""

    def __call__(self, gm):
        found = []

        class Recording(fx.Transformer):
            def run_node(self, node):
                if adds(node):
                    found.append(node)
                return super().run_node(node)

        Recording(gm).transform()
        return found


@breaks("`x.add(y)`.", case="the residual block")
@wrong("finds", says="Node `add_1`, a `call_method`, is an addition, but is not in the list")
def handles_only_functions(gm):
    return [node for node in gm.graph.nodes if node.target in (operator.add, torch.add, operator.iadd)]


@breaks("`operator.iadd`.", case="the block of many sums")
@wrong("finds", says="node `iadd`, a `call_function`, is an addition, but is not in the list")
def handles_only_what_tracing_records(gm):
    def known(node):
        if node.op == "call_function":
            return node.target in (operator.add, torch.add)
        return node.op == "call_method" and node.target in ("add", "add_")

    return [node for node in gm.graph.nodes if known(node) and node.kwargs.get("alpha", 1) == 1]


@breaks("`x.add_(y)`", "here they count.", case="the block of many sums")
@wrong("finds", says="node `add_`, a `call_method`, is an addition, but is not in the list")
def skips_in_place_additions(gm):
    """The chapter's `is_add`."""

    def is_add(node):
        if node.op == "call_function":
            called = node.target in {operator.add, torch.add}
        else:
            called = node.op == "call_method" and node.target == "add"
        return called and node.kwargs.get("alpha", 1) == 1

    return [node for node in gm.graph.nodes if is_add(node)]


@breaks("does not belong in the list.", case="the block of many sums")
@wrong("finds", says="node `add`, a `call_function`, is in the list, but is not an addition")
def forgets_alpha(gm):
    return [node for node in gm.graph.nodes if node.target in CALLED.get(node.op, ())]


@breaks("A node with an `alpha` other than 1", case="the block of many sums")
@wrong("finds", says="node `add_1`, a `call_function`, is an addition, but is not in the list")
def refuses_every_alpha(gm):
    return [node for node in gm.graph.nodes if node.target in CALLED.get(node.op, ()) and "alpha" not in node.kwargs]


@breaks("returns a list of all additions", case="the residual block")
@wrong("finds", says="The list contains a string where a node should be")
def returns_names(gm):
    return [node.name for node in gm.graph.nodes if adds(node)]


@breaks("in graph order.", case="the residual block")
@wrong("finds", says="`add_2` is in the list before `add_1`: in the graph, `add_1` comes first")
def lists_functions_before_methods(gm):
    return [node for opcode in CALLED for node in gm.graph.nodes if node.op == opcode and adds(node)]


@breaks("all additions in a `GraphModule`", case="a sum without users, among weighted sums")
@wrong("finds", says="node `add_6`, a `call_function`, is an addition, but is not in the list")
def leaves_out_sums_of_sizes(gm):
    return [node for node in gm.graph.nodes if adds(node) and "size" not in [x.target for x in node.all_input_nodes]]


@breaks("a list of all additions in a `GraphModule`", case="the block of many sums")
@wrong("finds", says="the list contains a node of another graph (a copy, or that of a submodule)")
def looks_into_submodules(gm):
    parts = [part for part in gm.modules() if isinstance(part, fx.GraphModule)]
    return [node for part in parts for node in part.graph.nodes if adds(node)]


@breaks("an `alpha` other than 1", case="a sum without users, among weighted sums")
@wrong("finds", says="node `add_1`, a `call_function`, is in the list, but is not an addition")
def rounds_alpha_down(gm):
    known = [node for node in gm.graph.nodes if node.target in CALLED.get(node.op, ())]
    return [node for node in known if int(node.kwargs.get("alpha", 1)) == 1]


@wrong("input_unchanged", says="The model that was given has been changed: its graph was edited, at node `add_1`")
def changes_all_to_one_spelling(gm):
    found = [node for node in gm.graph.nodes if adds(node)]
    for node in found:
        node.op, node.target = "call_function", torch.add
    return found


@breaks("These nodes are additions:", case="a sum without users, among weighted sums")
@wrong("finds", says="node `add_`, a `placeholder`, is in the list, but is not an addition")
def skips_only_modules(gm):
    """An input may be called `add_`, and an attribute `add`."""
    known = [node for node in gm.graph.nodes if node.op != "call_module" and node.target in sum(CALLED.values(), ())]
    return [node for node in known if node.kwargs.get("alpha", 1) == 1]


@breaks("additions in a `GraphModule`, in graph order.", case="a sum without users, among weighted sums")
@wrong("finds", says="node `add_2`, a `call_function`, is in the list, but is not an addition")
def recognises_functions_by_name(gm):
    def named(node):
        return getattr(node.target, "__name__", node.target) if node.op in CALLED else ""

    known = [node for node in gm.graph.nodes if named(node) in ("add", "add_", "iadd")]
    return [node for node in known if node.kwargs.get("alpha", 1) == 1]
