"""Answers to 00-swap-targets: other functions and methods called, by a table of targets."""

import copy

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong


def is_call(node):
    return node.op in ("call_function", "call_method")


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def goes_through_the_table(traced, table):
    """Finds all nodes first: a new target may be a key, too."""
    found = {}
    for old, new in table.items():
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


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("A call of the module must compute the new result.", case="the classifier of the chapter")
@wrong("recompiled", says="the compiled code is stale")
def forgets_to_recompile(traced, table):
    for node in traced.graph.nodes:
        if is_call(node) and node.target in table:
            node.target = table[node.target]
    traced.graph.lint()
    return traced


@breaks("even a call of a submodule that is called `relu`", case="a model with a submodule called `relu`")
@wrong(
    "target_fits_op",
    node="relu",
    read="00_first_graph#six-opcodes-are-enough",
    says="its target is a qualified name, and no submodule is at `tanh`",
)
def does_not_ask_for_the_opcode(traced, table):
    for node in traced.graph.nodes:
        if node.target in table:
            node.target = table[node.target]
    traced.recompile()
    return traced


@breaks("function call and method call", case="a model with a submodule called `relu`")
@wrong("none_left", node="relu_1", says="still calls relu")
def swaps_methods_only(traced, table):
    for node in traced.graph.nodes:
        if node.op == "call_method" and node.target in table:
            node.target = table[node.target]
    traced.recompile()
    return traced


@breaks("whose target is a key", case="a model with a submodule called `relu`")
@wrong("none_left", node="relu_1", says="still calls relu")
def looks_for_the_name(traced, table):
    for node in traced.graph.nodes:
        if is_call(node) and node.name in table:
            node.target = table[node.name]
    traced.recompile()
    return traced


@breaks("Edit the module that you are given, not a copy", case="the classifier of the chapter")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced, table):
    traced = copy.deepcopy(traced)
    for node in traced.graph.nodes:
        if is_call(node) and node.target in table:
            node.target = table[node.target]
    traced.recompile()
    return traced


@breaks("and return it.", case="the classifier of the chapter")
@wrong("given_edited", says="The result is another module than the one that was given")
def traces_the_changed_module_once_more(traced, table):
    for node in traced.graph.nodes:
        if is_call(node) and node.target in table:
            node.target = table[node.target]
    traced.recompile()
    return fx.symbolic_trace(traced)


@breaks("a string stands for a method, and a function for itself.", case="the classifier of the chapter")
@wrong(
    "target_fits_op",
    node="relu",
    read="00_first_graph#valueerror-node-relu-target--has-type--but-a-str-is-expected",
    says="is a `call_method`, but its target is a function",
)
def makes_every_target_a_function(traced, table):
    for node in traced.graph.nodes:
        if is_call(node) and node.target in table:
            node.target = torch.tanh
    return traced


@breaks("All other nodes stay as they are", case="a model with a submodule called `relu`")
@wrong("submodule_stays", says="no node calls the submodule `relu`, which is to stay")
def swaps_the_submodule_too(traced, table):
    for node in traced.graph.nodes:
        if is_call(node) and node.target in table:
            node.target = table[node.target]
        if node.op == "call_module" and isinstance(traced.get_submodule(node.target), nn.ReLU):
            traced.set_submodule(node.target, nn.Tanh())
    traced.recompile()
    return traced


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


@breaks("change every", case="a model with a submodule called `relu`")
@wrong("none_left", node="relu_2", says="still calls relu")
def stops_after_the_first(traced, table):
    for node in traced.graph.nodes:
        if is_call(node) and node.target in table:
            node.target = table[node.target]
            break
    traced.recompile()
    return traced


@wrong("lints", node="tanh", says="node `tanh` uses itself", read="02_insertion_points#replace-uses-without-a-cycle")
def hands_the_new_node_to_itself(traced, table):
    graph = traced.graph
    for node in list(graph.nodes):
        if is_call(node) and node.target in table:
            with graph.inserting_after(node):
                new = graph.create_node(node.op, table[node.target], (node,))
            node.replace_all_uses_with(new)
            graph.erase_node(node)
    traced.recompile()
    return traced


@wrong("calls", says="No node calls tanh")
def takes_the_old_out_and_forgets_the_new(traced, table):
    graph = traced.graph
    for node in list(graph.nodes):
        if is_call(node) and node.target in table:
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    traced.recompile()
    return traced


@wrong(
    "inserts_at_the_end",
    says="The graph still inserts before a node that was erased: the next node that anybody makes lands there",
    read="02_insertion_points#an-anchor-holds-as-long-as-its-with",
)
def chooses_the_place_of_each_node_and_never_leaves_it(traced, table):
    graph = traced.graph
    for node in list(graph.nodes):
        if is_call(node) and node.target in table:
            graph.inserting_before(node)
            new = graph.create_node(node.op, table[node.target], node.args, node.kwargs)
            node.replace_all_uses_with(new)
            graph.erase_node(node)
    traced.recompile()
    return traced


@breaks("and method call", case="the classifier of the chapter")
@wrong("none_left", node="relu", says="still calls relu")
def swaps_functions_only(traced, table):
    for node in traced.graph.nodes:
        if node.op == "call_function" and node.target in table:
            node.target = table[node.target]
    traced.recompile()
    return traced


@breaks(
    "Given a traced module and a dict from old to new targets",
    "The check passes other tables, too.",
    case="another table",
)
@wrong("no_key_is_called", node="exp", says="node `exp` still calls `torch.exp`, a key of the table")
def knows_the_table_of_the_task(traced, table):
    known = {"relu": "tanh", torch.relu: torch.tanh}
    for node in traced.graph.nodes:
        if is_call(node) and node.target in known:
            node.target = known[node.target]
    traced.recompile()
    return traced


@breaks("or an input of that name.", case="another table")
@wrong("inputs_stay", node="sin", says="the input `sin` is called `cos` now")
def asks_for_no_submodule_and_no_weight(traced, table):
    for node in traced.graph.nodes:
        if node.op not in ("call_module", "get_attr") and node.target in table:
            node.target = table[node.target]
    traced.recompile()
    return traced


@breaks("target is a key of the dict.", case="another table")
@wrong("other_calls_stay", node="sinh", says="node `sinh` called `sinh`, a `call_method`, which is no key of the table")
def takes_names_that_begin_alike(traced, table):
    methods = [key for key in table if isinstance(key, str)]
    for node in traced.graph.nodes:
        if node.op == "call_method":
            [key, *_] = [*filter(node.target.startswith, methods), node.target]
            node.target = table.get(key, key)
        elif node.op == "call_function":
            node.target = table.get(node.target, node.target)
    traced.recompile()
    return traced


@wrong("same_result", node="head", says="The result is not the one asked for")
def calls_the_new_after_the_old_value_is_doubled(traced, table):
    for node in list(traced.graph.nodes):
        if is_call(node) and node.target in table:
            [value] = node.all_input_nodes
            with traced.graph.inserting_before(node):
                doubled = traced.graph.call_function(torch.mul, (value, 2.0))
            node.target = table[node.target]
            node.replace_input_with(value, doubled)
    traced.recompile()
    return traced


@wrong("same_result", node="exp", says="the result is not the one asked for")
def keeps_the_first_argument_only(traced, table):
    for node in traced.graph.nodes:
        if is_call(node) and node.target in table:
            node.target = table[node.target]
            if isinstance(node.target, str):
                node.args, node.kwargs = node.args[:1], {}
    traced.recompile()
    return traced


@breaks("a dict from old to new targets", case="another table")
@wrong("swapped_once", node="sin_1", says="calls `sin`, as before: its target was to be swapped, and once")
def swaps_key_after_key(traced, table):
    for old, new in table.items():
        for node in traced.graph.nodes:
            if is_call(node) and node.target == old:
                node.target = new
    traced.recompile()
    return traced
