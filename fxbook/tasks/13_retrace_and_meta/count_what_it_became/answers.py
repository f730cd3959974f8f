"""Answers to 13-count-what-it-became: nodes of a retrace by the node that made them."""

import copy
from collections import Counter

from torch import fx
from torch._decomp import decomposition_table, get_decompositions
from torch.fx.experimental.proxy_tensor import make_fx

from fxbook.tasks.answering import breaks, right, wrong

KEPT = "13_retrace_and_meta#which-notes-survive"


def calls(traced):
    return [node for node in traced.graph.nodes if node.op.startswith("call")]


def noted(traced, operators, x, note):
    for node in traced.graph.nodes:
        node.meta |= note(node)
    with fx.traceback.preserve_node_meta():
        return make_fx(fx.Interpreter(traced).run, decomposition_table=get_decompositions(operators))(x)


def functions(lowered):
    return [node for node in lowered.graph.nodes if node.op == "call_function"]


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def counts_while_it_runs(traced, x, operators):
    """Before and after each node, the nodes that the tracer has."""
    counts = {}

    class Counting(fx.Interpreter):
        def run_node(self, n):
            graph = fx.experimental.proxy_tensor.get_proxy_mode().tracer.graph
            before = self.made(graph)
            value = super().run_node(n)
            counts[n.name] = self.made(graph) - before
            return value

        def made(self, graph):
            return sum(node.op == "call_function" for node in graph.nodes)

    make_fx(Counting(traced).run, decomposition_table=get_decompositions(operators))(x)
    return {node.name: counts[node.name] for node in calls(traced)}


@right
def works_on_a_copy(traced, x, operators):
    copied = copy.deepcopy(traced)
    lowered = noted(copied, operators, x, lambda node: {"custom": {"name": node.name}})
    found = dict.fromkeys((node.name for node in calls(copied)), 0)
    for node in functions(lowered):
        found[node.meta["custom"]["name"]] += 1
    return found


@right
def takes_the_table_of_torch(traced, x, operators):
    table = {overload: decomposition_table[overload] for overload in get_decompositions(operators)}
    for node in traced.graph.nodes:
        node.meta["custom"] = {"from": node}
    with fx.traceback.preserve_node_meta():
        lowered = make_fx(fx.Interpreter(traced).run, table)(x)
    return {node.name: sum(new.meta["custom"]["from"] is node for new in functions(lowered)) for node in calls(traced)}


@right
def traces_a_function_that_runs(traced, x, operators):
    for node in traced.graph.nodes:
        node.meta["custom"] = {"from": node.name}

    def run(x):
        return fx.Interpreter(traced).boxed_run([x])

    with fx.traceback.preserve_node_meta():
        lowered = make_fx(run, decomposition_table=get_decompositions(operators))(x)
    counts = Counter(node.meta["custom"]["from"] for node in functions(lowered))
    return {node.name: counts[node.name] for node in calls(traced)}


# ---- wrong -----------------------------------------------------------------------------------------------------------


@wrong("counted", says="and the answer has ")
def reads_from_node_of_empty_notes(traced, x, operators):
    """`symbolic_trace` leaves the meta of functions and methods empty."""
    lowered = noted(traced, operators, x, lambda node: {})
    counts = Counter(node.meta["from_node"][-1].name for node in functions(lowered) if "from_node" in node.meta)
    return {node.name: counts[node.name] for node in calls(traced)}


@breaks("decompose `operators`", case="a block of Llama")
@wrong("counted", says="became 2 nodes, and the answer has 1")
def leaves_the_operators_whole(traced, x, operators):
    return works_on_a_copy(traced, x, [])


@breaks("the number of `call_function` nodes of the new graph that come from that node", case="a block of Llama")
@wrong("counted", says="and the answer has ")
def counts_the_weights_too(traced, x, operators):
    lowered = noted(traced, operators, x, lambda node: {"custom": {"from": node.name}})
    counts = Counter(node.meta.get("custom", {}).get("from") for node in lowered.graph.nodes)
    return {node.name: counts[node.name] for node in calls(traced)}


@breaks(
    "Its keys are the names of the nodes of `traced` that call a function, a method or a module.",
    case="a block of Llama",
)
@wrong("counted", says="but it is no node of the old graph that calls something")
def has_inputs_too(traced, x, operators):
    lowered = noted(traced, operators, x, lambda node: {"custom": {"from": node.name}})
    counts = Counter(node.meta["custom"]["from"] for node in functions(lowered))
    return {node.name: counts[node.name] for node in traced.graph.nodes}


@breaks("Return a dict.", case="a block of Llama")
@wrong("counted", says="not a dict with names of nodes as keys")
def returns_the_sum(traced, x, operators):
    return len(functions(noted(traced, operators, x, lambda node: {})))


@breaks("Return {name of a node of traced: number of new nodes}.", case="a block of Llama")
@wrong("counted", says="is not a number")
def returns_the_nodes(traced, x, operators):
    lowered = noted(traced, operators, x, lambda node: {"custom": {"from": node.name}})
    made = {node.name: [] for node in calls(traced)}
    for node in functions(lowered):
        made[node.meta["custom"]["from"]].append(node.name)
    return made


@breaks("Retrace `traced` on `x`", case="a block of Llama")
@wrong("counted", says="and the answer has ")
def counts_one_for_each(traced, x, operators):
    return dict.fromkeys((node.name for node in calls(traced)), 1)


@breaks("the names of the nodes of `traced`", case="a block of Llama")
@wrong("keys_are_names", says="A key of the answer is an object, the node `")
def keys_are_the_nodes(traced, x, operators):
    found = works_on_a_copy(traced, x, operators)
    return {node: found[node.name] for node in calls(traced)}


@breaks("0 if none does.", case="an operation in three nodes")
@wrong("counted", says="(an operation in three nodes): node `add_` became 1 node, and the answer has 0")
def takes_what_nothing_uses_for_nothing(traced, x, operators):
    """A node that writes in place needs no user."""
    found = works_on_a_copy(traced, x, operators)
    return {node.name: found[node.name] if node.users else 0 for node in calls(traced)}
