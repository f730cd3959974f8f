"""Answers to 02-put-in-order."""

import graphlib
import itertools

from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

NO_ANCHOR = "02_insertion_points#a-node-made-without-an-anchor"


@right
def appends_ready_nodes(traced):
    waiting, placed, last = list(traced.graph.nodes), set(), None
    while waiting:
        ready = next(node for node in waiting if node.op != "output" and placed.issuperset(node.all_input_nodes))
        waiting.remove(ready)
        if last is not None:
            last.append(ready)
        placed.add(ready)
        last = ready
        if len(waiting) == 1:
            last.append(waiting.pop())
    traced.recompile()


@right
class MovesNodesUntilNoneIsTooEarly:
    """Moves each node after the last node that it uses, until no node has to move."""

    def __call__(self, traced):
        nodes = list(traced.graph.nodes)
        inputs = [node for node in nodes if node.op == "placeholder"]
        [output] = [node for node in nodes if node.op == "output"]
        for node in inputs:
            output.prepend(node)
        for node in nodes:
            if node.op not in ("placeholder", "output"):
                inputs[-1].append(node)
        moved = True
        while moved:
            moved = False
            for node in nodes:
                last = max(node.all_input_nodes, default=node)
                if node < last:
                    last.append(node)
                    moved = True
        [*_, last] = traced.graph.nodes
        last.append(output)
        traced.recompile()


@right
def sorts_by_depth(traced):
    """A node is one level deeper than the deepest node that it uses."""
    depths = {}

    def depth(node):
        if node not in depths:
            depths[node] = 1 + max(map(depth, node.all_input_nodes), default=0)
        return depths[node]

    def place(node):
        return node.op == "output", node.op != "placeholder", depth(node)

    order = sorted(traced.graph.nodes, key=place)
    for above, node in itertools.pairwise(order):
        above.append(node)
    traced.recompile()


@right
def sorts_with_graphlib(traced):
    inputs_first = sorted(traced.graph.nodes, key=lambda node: node.op != "placeholder")
    order = graphlib.TopologicalSorter({node: node.all_input_nodes for node in inputs_first}).static_order()
    [output] = traced.graph.find_nodes(op="output")
    for node in order:
        if node is not output:
            output.prepend(node)
    traced.graph.lint()
    traced.recompile()
    return traced


def sort_before(output, waiting, uses=lambda node: node.all_input_nodes, placed=()):
    """Moves the waiting nodes before ``output``, each after the nodes that ``uses`` returns for it."""
    while waiting:
        ready = [node for node in waiting if {*placed}.issuperset(uses(node))]
        for node in ready:
            output.prepend(node)
        placed = {*placed, *ready}
        waiting = [node for node in waiting if node not in placed]


@breaks("Then call `recompile`.", case="the block of the chapter, reversed")
@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    [output] = traced.graph.find_nodes(op="output")
    sort_before(output, [node for node in traced.graph.nodes if node is not output])


@breaks("or an input after a node that uses it.", case="attention, two inputs late")
@wrong("lints", node="key", says="before it is defined")
def leaves_the_inputs_where_they_are(traced):
    """Assumes that all inputs come first."""
    [output] = traced.graph.find_nodes(op="output")
    inputs = traced.graph.find_nodes(op="placeholder")
    sort_before(output, [node for node in traced.graph.nodes if node not in (*inputs, output)], placed=inputs)
    traced.recompile()


@breaks("one node in the wrong place", case="the block with one node misplaced")
@wrong("lints", node="output", says="node `output` uses add before it is defined")
def reverses_everything_after_the_inputs(traced):
    """This is right only for the order of `scrambled`."""
    nodes = list(traced.graph.nodes)
    inputs = [node for node in nodes if node.op == "placeholder"]
    for node in nodes:
        if node.op != "placeholder":
            inputs[-1].append(node)
    traced.recompile()


@breaks(
    "A pass has left the nodes in the wrong order:",
    "`lint` rejects the graph.",
    "`scrambled` is one such graph:",
    "Move the nodes into topological order.",
    "everything after its inputs is reversed.",
    case="the block of the chapter, reversed",
)
@wrong("lints", node="output", says="node `output` uses add before it is defined")
def moves_each_node_once(traced):
    """Applies to each node in turn the fix for a single node that comes too early."""
    for node in list(traced.graph.nodes):
        if node.all_input_nodes:
            max(node.all_input_nodes).append(node)
    traced.recompile()


@breaks("The inputs keep their order.", case="attention, with three inputs")
@wrong("inputs_keep_order", node="value", says="input `value` is after `keys`: the inputs should keep their order")
def places_inputs_where_they_are_used_first(traced):
    [output] = traced.graph.find_nodes(op="output")
    placed = set()

    def place(node):
        if node not in placed:
            placed.add(node)
            for read in sorted(node.all_input_nodes, key=lambda read: read.name):
                place(read)
            if node is not output:
                output.prepend(node)

    place(output)
    for node in list(traced.graph.nodes):
        place(node)
    traced.recompile()


@breaks("`output` has to be last.", case="a chain that has no users")
@wrong("output_last", node="sum_1", says="is after `output`: it never runs", read=NO_ANCHOR)
def treats_the_output_like_any_node(traced):
    """In a sort by depth, `output` need not come after nodes without users."""
    order, placed = [], set()
    waiting = list(traced.graph.nodes)
    while waiting:
        ready = [node for node in waiting if placed.issuperset(node.all_input_nodes)]
        order += ready
        placed.update(ready)
        waiting = [node for node in waiting if node not in placed]
    for above, node in itertools.pairwise(order):
        above.append(node)
    traced.recompile()


@breaks("Do not create", case="the block of the chapter, reversed")
@wrong("only_moved", node="x", says="is new: the given nodes should be moved")
def creates_every_node_again(traced):
    graph, made = fx.Graph(), {}
    waiting = [node for node in traced.graph.nodes if node.op != "output"]
    while waiting:
        for node in list(waiting):
            if made.keys() >= set(node.all_input_nodes):
                args, kwargs = fx.node.map_arg((node.args, node.kwargs), made.__getitem__)
                made[node] = graph.create_node(node.op, node.target, args, kwargs, node.name)
                waiting.remove(node)
    [output] = traced.graph.find_nodes(op="output")
    graph.output(fx.node.map_arg(output.args[0], made.__getitem__))
    traced.graph = graph


@breaks("and do not change any arguments.", case="the block of the chapter, reversed")
@wrong("only_moved", node="add", says="has different arguments: only its place should change")
def changes_arguments_to_satisfy_lint(traced):
    """Replaces each argument that comes too late with the input of the model."""
    for node in traced.graph.nodes:
        for read in node.all_input_nodes:
            if not read < node:
                node.replace_input_with(read, next(iter(traced.graph.nodes)))
    [output] = traced.graph.find_nodes(op="output")
    [*_, last] = traced.graph.nodes
    if last is not output:
        last.append(output)
    traced.recompile()


@wrong("given_edited", says="a different module, but the given one should be edited")
def wraps_the_sorted_graph_in_a_new_module(traced):
    """Both modules then share one graph."""
    appends_ready_nodes(traced)
    return fx.GraphModule(traced, traced.graph)


@breaks("or erase any nodes", case="a chain that has no users")
@wrong("only_moved", says="node `tanh` of the given graph is gone")
def erases_unused_nodes(traced):
    appends_ready_nodes(traced)
    traced.graph.eliminate_dead_code()
    traced.recompile()


@breaks("and `output` has to be last.", case="a layer named `output`, and an unused input")
@wrong("lints", node="output_1", says="node `output_1` uses output before it is defined")
def looks_for_the_node_named_output(traced):
    [output] = [node for node in traced.graph.nodes if node.name == "output"]
    waiting = [node for node in traced.graph.nodes if node is not output]
    sort_before(output, waiting, lambda node: set(node.all_input_nodes) - {output})
    traced.recompile()
