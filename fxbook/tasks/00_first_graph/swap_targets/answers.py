"""Answers to 00-swap-targets."""

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong


def is_call(node):
    return node.op in ("call_function", "call_method")


@right
def goes_through_the_table(traced, table):
    """Finds all nodes first, because a new target may be a key too, and empties the table."""
    found = {}
    while table:
        old, new = table.popitem()
        opcode = "call_method" if isinstance(old, str) else "call_function"
        found |= dict.fromkeys(traced.graph.find_nodes(op=opcode, target=old), new)
    for node, new in found.items():
        node.target = new
    traced.recompile()
    return traced


@right
def copies_node_by_node_into_a_graph_that_it_assigns(traced, table):
    graph, copied = fx.Graph(), {}
    for node in traced.graph.nodes:
        copied[node] = graph.node_copy(node, copied.__getitem__)
        if is_call(node):
            copied[node].target = table.get(node.target, node.target)
    traced.graph = graph
    return traced


class AnotherCall(fx.Transformer):
    """Makes the new graph while it runs the old one."""

    def __init__(self, module, table):
        super().__init__(module)
        self.table = table

    def call_function(self, target, args, kwargs):
        return super().call_function(self.table.get(target, target), args, kwargs)

    def call_method(self, target, args, kwargs):
        return super().call_method(self.table.get(target, target), args, kwargs)


@right
def assigns_the_graph_of_a_transformer(traced, table):
    traced.graph = AnotherCall(traced, table).transform().graph
    return traced


@right
def calls_with_proxies(traced, table):
    tracer = fx.proxy.GraphAppendingTracer(traced.graph)
    for node in list(traced.graph.nodes):
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), lambda read: fx.Proxy(read, tracer))
        with traced.graph.inserting_before(node):
            match node.op:
                case "call_method" if node.target in table:
                    made = getattr(args[0], table[node.target])(*args[1:], **kwargs)
                case "call_function" if node.target in table:
                    made = table[node.target](*args, **kwargs)
                case _:
                    continue
        node.replace_all_uses_with(made.node)
        traced.graph.erase_node(node)
    traced.recompile()


def swap(traced, table, is_meant=is_call, compiled=True):
    """The solution, with parameters for its parts."""
    for node in traced.graph.nodes:
        if is_meant(node) and node.target in table:
            node.target = table[node.target]
    if compiled:
        traced.recompile()
    return traced


@breaks("A call to the module must then compute the new result.", case="the classifier")
@wrong("recompiled", says="the compiled code is stale")
def forgets_to_recompile(traced, table):
    return swap(traced, table, compiled=False)


@breaks("even a call to a submodule named `relu`", case="a model with a submodule named `relu`")
@wrong(
    "target_fits_op",
    node="relu",
    read="00_first_graph#six-opcodes-are-enough",
    says="its target is a qualified name, but no submodule is at `tanh`",
)
def ignores_the_opcode(traced, table):
    return swap(traced, table, is_meant=lambda node: True)


@breaks("and return that module or nothing.", case="the classifier")
@wrong("given_edited", says="The result is a different module, but the given one")
def traces_the_changed_module_once_more(traced, table):
    return fx.symbolic_trace(swap(traced, table))


@breaks(
    "a string stands for a method, and a function for itself.",
    "Replace methods with methods, and functions with functions.",
    case="the classifier",
)
@wrong("methods_stay_methods", node="relu", says="is a `call_function`, but should be a `call_method`")
def makes_every_call_a_function_call(traced, table):
    for node in traced.graph.nodes:
        if is_call(node) and node.target in table:
            new = table[node.target]
            node.op, node.target = "call_function", getattr(torch, new) if isinstance(new, str) else new
    traced.recompile()
    return traced


@breaks("All other nodes stay as they are", case="a model with a submodule named `relu`")
@wrong("submodule_stays", says="no node calls the submodule `relu`, which must stay")
def swaps_the_submodule_too(traced, table):
    for node in traced.graph.find_nodes(op="call_module", target="relu"):
        traced.set_submodule(node.target, nn.Tanh())
    return swap(traced, table)


@wrong("no_dead_nodes", node="relu", says="is dead: no node uses its result")
def leaves_the_old_node(traced, table):
    graph = traced.graph
    for node in list(graph.nodes):
        if is_call(node) and node.target in table:
            with graph.inserting_before(node):
                new = graph.create_node(node.op, table[node.target], node.args, node.kwargs)
            node.replace_all_uses_with(new)
    traced.recompile()
    return traced


@wrong("lints", node="tanh", says="node `tanh` uses itself", read="02_insertion_points#replace-uses-without-a-cycle")
def passes_the_replaced_node_to_its_replacement(traced, table):
    graph = traced.graph
    for node in list(graph.nodes):
        if is_call(node) and node.target in table:
            with graph.inserting_after(node):
                new = graph.create_node(node.op, table[node.target], (node,))
            node.replace_all_uses_with(new)
            graph.erase_node(node)
    traced.recompile()
    return traced


@breaks(
    "Given a traced module and a dict from old to new targets",
    "The check also calls your function with other dicts.",
    case="a different dict",
)
@wrong("no_key_is_called", node="sigmoid_1", says="node `sigmoid_1` still calls `sigmoid`, a key of the dict")
def uses_the_dict_of_the_task(traced, table):
    return swap(traced, {"relu": "tanh", torch.relu: torch.tanh})


@breaks("or an input of that name.", case="a different dict")
@wrong("inputs_stay", node="sin", says="the input `sin` is now called `cos`")
def excludes_only_submodules_and_weights(traced, table):
    return swap(traced, table, is_meant=lambda node: node.op not in ("call_module", "get_attr"))


@breaks("target is a key in the dict.", case="a different dict")
@wrong("other_calls_stay", node="sinh", says="`sinh`, a `call_method` target that is not a key of the dict")
def swaps_methods_whose_name_begins_with_a_key(traced, table):
    methods = [key for key in table if isinstance(key, str)]
    for node in traced.graph.nodes:
        if node.op == "call_method":
            [key, *_] = [*filter(node.target.startswith, methods), node.target]
            node.target = table.get(key, key)
        elif node.op == "call_function":
            node.target = table.get(node.target, node.target)
    traced.recompile()
    return traced


@wrong("arguments_stay", node="sum_1", says="has fewer arguments than the call that it replaces: `add.prod()`")
def keeps_only_the_first_argument(traced, table):
    for node in traced.graph.nodes:
        if node.op == "call_method" and node.target in table:
            node.args, node.kwargs = node.args[:1], {}
    return swap(traced, table)


@wrong("same_result", node="sub_1", says="running the result raises TypeError")
def passes_every_argument_by_position(traced, table):
    for node in traced.graph.nodes:
        if is_call(node) and node.target in table:
            node.args, node.kwargs = (*node.args, *node.kwargs.values()), {}
    return swap(traced, table)


@breaks("a dict from old to new targets", case="a different dict")
@wrong("swapped_once", node="sin_1", says="calls `sin`, as before: its target should be swapped once")
def swaps_key_after_key(traced, table):
    for old, new in table.items():
        swap(traced, {old: new})
    return traced


@breaks("All other nodes stay as they are", case="a different dict")
@wrong("dead_calls_swapped", says="node `sigmoid_1` has no users, but should be swapped, not erased: `add.sigmoid()`")
def erases_dead_nodes(traced, table):
    swap(traced, table)
    traced.graph.eliminate_dead_code()
    traced.recompile()
