"""Answers to 13-count-what-it-became: the nodes of a retrace, counted for each node that they come from."""

import copy
from collections import Counter

from torch import fx
from torch._decomp import decomposition_table, get_decompositions
from torch.fx.experimental.proxy_tensor import make_fx

from fxbook.tasks.answering import breaks, right, wrong

LLAMA = "a block of Llama"


def calls(traced):
    return [node for node in traced.graph.nodes if node.op.startswith("call")]


def retraced(traced, operators, x, note=lambda node: {"custom": {"from": node.name}}):
    """The new graph, made after the result of ``note`` was added to each node's ``meta``."""
    for node in traced.graph.nodes:
        node.meta |= note(node)
    with fx.traceback.preserve_node_meta():
        return make_fx(fx.Interpreter(traced).run, decomposition_table=get_decompositions(operators))(x)


def functions(lowered):
    return [node for node in lowered.graph.nodes if node.op == "call_function"]


@right
def counts_while_it_runs(traced, x, operators):
    """Counts the tracer's nodes before and after each node."""
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
    found = dict.fromkeys((node.name for node in calls(copied)), 0)
    for node in functions(retraced(copied, operators, x)):
        found[node.meta["custom"]["from"]] += 1
    return found


@right
def looks_the_decompositions_up_in_torch(traced, x, operators):
    table = {overload: decomposition_table[overload] for overload in get_decompositions(operators)}
    for node in traced.graph.nodes:
        node.meta["custom"] = {"from": node}
    with fx.traceback.preserve_node_meta():
        lowered = make_fx(fx.Interpreter(traced).run, table)(x)
    came_from = [new.meta["custom"]["from"] for new in functions(lowered)]
    return {node.name: sum(one is node for one in came_from) for node in calls(traced)}


@right
def retraces_a_boxed_run(traced, x, operators):
    for node in traced.graph.nodes:
        node.meta["custom"] = {"from": node.name}

    def run(x):
        return fx.Interpreter(traced).boxed_run([x])

    with fx.traceback.preserve_node_meta():
        lowered = make_fx(run, decomposition_table=get_decompositions(operators))(x)
    counts = Counter(node.meta["custom"]["from"] for node in functions(lowered))
    return {node.name: counts[node.name] for node in calls(traced)}


@wrong("counted", says="your answer is ")
def reads_from_node_without_notes(traced, x, operators):
    """The retrace adds no ``from_node``, because `symbolic_trace` leaves the ``meta`` of most nodes empty."""
    lowered = retraced(traced, operators, x, lambda node: {})
    counts = Counter(node.meta["from_node"][-1].name for node in functions(lowered) if "from_node" in node.meta)
    return {node.name: counts[node.name] for node in calls(traced)}


@wrong("counted", says="your answer is 0")
def keeps_a_note_that_is_there(traced, x, operators):
    for node in traced.graph.nodes:
        node.meta.setdefault("custom", {"from": node.name})
    counts = Counter(
        node.meta["custom"].get("from") for node in functions(retraced(traced, operators, x, lambda n: {}))
    )
    return {node.name: counts[node.name] for node in calls(traced)}


@breaks("the number of `call_function` nodes in the new graph", case="an operation in three nodes")
@wrong("counted", says="(an operation in three nodes): node `mul_` became 1 node; your answer is 0")
def counts_new_nodes_with_users(traced, x, operators):
    found = [node for node in functions(retraced(traced, operators, x)) if node.users]
    counts = Counter(node.meta["custom"]["from"] for node in found)
    return {node.name: counts[node.name] for node in calls(traced)}


@breaks("decompose `operators`", case=LLAMA)
@wrong("counted", says="became 3 nodes; your answer is 1")
def leaves_the_operators_whole(traced, x, operators):
    return works_on_a_copy(traced, x, [])


@breaks("with torch's own decompositions.", case=LLAMA)
@wrong("counted", says="Node `mean` became 3 nodes; your answer is 1")
def decomposes_default_overloads_only(traced, x, operators):
    return works_on_a_copy(traced, x, [operator.default for operator in operators if hasattr(operator, "default")])


@breaks("the number of `call_function` nodes in the new graph that come from that node", case=LLAMA)
@wrong("counted", says="your answer is ")
def counts_the_weights_too(traced, x, operators):
    lowered = retraced(traced, operators, x)
    counts = Counter(node.meta.get("custom", {}).get("from") for node in lowered.graph.nodes)
    return {node.name: counts[node.name] for node in calls(traced)}


@breaks("the names of the nodes of `traced` that call a function, a method or a module.", case=LLAMA)
@wrong("counted", says="but it is not a node of `traced` that calls something")
def includes_the_inputs(traced, x, operators):
    lowered = retraced(traced, operators, x)
    counts = Counter(node.meta["custom"]["from"] for node in functions(lowered))
    return {node.name: counts[node.name] for node in traced.graph.nodes}


@breaks("Return a dict.", case=LLAMA)
@wrong("counted", says="not a dict with node names as keys")
def returns_the_sum(traced, x, operators):
    return len(functions(retraced(traced, operators, x)))


@breaks("Return {name of a node of traced: number of new nodes}.", case=LLAMA)
@wrong("counted", says="is not a number")
def returns_the_nodes(traced, x, operators):
    made = {node.name: [] for node in calls(traced)}
    for node in functions(retraced(traced, operators, x)):
        made[node.meta["custom"]["from"]].append(node.name)
    return made


@breaks("Retrace `traced` on `x`", case=LLAMA)
@wrong("counted", says="your answer is ")
def counts_one_for_each(traced, x, operators):
    return dict.fromkeys((node.name for node in calls(traced)), 1)


@breaks("0 if there are none.", case="an operation in three nodes")
@wrong("counted", says="(an operation in three nodes): node `add_` became 1 node; your answer is 0")
def counts_nothing_for_a_node_without_users(traced, x, operators):
    """An in-place call has an effect even if it has no users."""
    found = works_on_a_copy(traced, x, operators)
    return {node.name: found[node.name] if node.users else 0 for node in calls(traced)}
