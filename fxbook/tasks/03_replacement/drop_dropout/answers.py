"""Answers to 03-drop-dropout: no nn.Dropout is called or held, and what read one reads its input."""

import copy

from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong


def dropouts(traced):
    return [
        node
        for node in traced.graph.nodes
        if node.op == "call_module" and isinstance(traced.get_submodule(node.target), nn.Dropout)
    ]


def take_out(traced, node):
    node.replace_all_uses_with(node.args[0])
    traced.graph.erase_node(node)


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def goes_from_the_end_and_deletes_by_path(traced):
    paths = set()
    for node in reversed(dropouts(traced)):
        node.replace_all_uses_with(node.args[0])
        paths.add(node.target)
        traced.graph.erase_node(node)
    for path in paths:
        assert traced.delete_submodule(path)
    traced.graph.lint()
    traced.recompile()


@right
def asks_each_path_for_its_calls(traced):
    """From the modules to the nodes, in place of the other way."""
    paths = [path for path, module in traced.named_modules() if isinstance(module, nn.Dropout)]
    for path in paths:
        for node in traced.graph.find_nodes(op="call_module", target=path):
            take_out(traced, node)
        traced.delete_submodule(path)
    traced.graph.lint()
    traced.recompile()


@right
def edits_a_copy_of_the_graph_and_assigns_it(traced):
    """The module is the one that was given, and its graph is edited before anybody can run it."""
    draft = copy.deepcopy(traced.graph)
    for node in list(draft.nodes):
        if node.op == "call_module" and isinstance(traced.get_submodule(node.target), nn.Dropout):
            node.replace_all_uses_with(node.args[0])
            draft.erase_node(node)
    traced.graph = draft
    traced.delete_all_unused_submodules()


@right
def copies_node_by_node_without_the_dropouts(traced):
    new, values = fx.Graph(), {}
    dropped = dropouts(traced)
    for node in traced.graph.nodes:
        values[node] = values[node.args[0]] if node in dropped else new.node_copy(node, values.__getitem__)
    traced.graph = new
    for path in {node.target for node in dropped}:
        traced.delete_submodule(path)


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("Erase every call of an `nn.Dropout`", case="an MLP with dropout")
@wrong("dropouts_taken_out", node="drop", says="still calls an nn.Dropout")
def forgets_to_erase(traced):
    for node in dropouts(traced):
        node.replace_all_uses_with(node.args[0])
    traced.delete_all_unused_submodules()
    traced.recompile()


@breaks("`traced` holds no `nn.Dropout`.", case="an MLP with dropout")
@wrong(
    "no_leftovers",
    says="still holds the submodule `drop`",
    read="03_replacement#a-function-by-a-module-a-module-by-a-function",
)
def forgets_the_modules(traced):
    for node in dropouts(traced):
        node.replace_all_uses_with(node.args[0])
        traced.graph.erase_node(node)
    traced.recompile()


@breaks("Keep everything else", case="a dropout called often, two in a row, dropouts of another kind")
@wrong("dropouts_taken_out", says="`exp` is gone, and was to stay")
def removes_all_dead_code(traced):
    """Of which some was there before."""
    found = list(dropouts(traced))
    for node in found:
        node.replace_all_uses_with(node.args[0])
    traced.graph.eliminate_dead_code()
    traced.delete_all_unused_submodules()
    traced.recompile()


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    for node in dropouts(traced):
        node.replace_all_uses_with(node.args[0])
        traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()


@breaks(
    "the users of the call use its input instead.",
    case="a dropout called often, two in a row, dropouts of another kind",
)
@wrong("reads_input_of_dropout", node="add", says="reads `right_1`: it read the dropout of `left`")
def takes_the_node_above(traced):
    for node in dropouts(traced):
        node.replace_all_uses_with(node.prev)
        traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()


@breaks("such as `nn.Dropout1d`", case="a dropout called often, two in a row, dropouts of another kind")
@wrong("dropouts_taken_out", says="`near_class_dropout2d` is gone, and was to stay")
def takes_every_kind_of_dropout(traced):
    for node in list(traced.graph.nodes):
        if node.op == "call_module" and "Dropout" in type(traced.get_submodule(node.target)).__name__:
            node.replace_all_uses_with(node.args[0])
            traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()


@breaks("and `nn.Identity`.", case="a dropout called often, two in a row, dropouts of another kind")
@wrong("dropouts_taken_out", says="`right_1` is gone, and was to stay")
def takes_whatever_does_nothing_in_eval_mode(traced):
    for node in list(traced.graph.nodes):
        if node.op == "call_module" and isinstance(traced.get_submodule(node.target), (nn.Dropout, nn.Identity)):
            node.replace_all_uses_with(node.args[0])
            traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()


@wrong(
    "arguments_kept",
    node="add",
    says="has 1 of its 2 arguments left",
    read="when_it_breaks/03_replacement#indexerror-replacement-index-1-out-of-range-for-positional-args-tuple",
)
def assigns_all_arguments_of_a_reader(traced):
    for node in dropouts(traced):
        for reader in list(node.users):
            reader.args = (node.args[0],)
        traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()


@wrong(
    "ends well",
    says="Tried to erase Node drop but it still had 1 users",
    read="03_replacement#runtimeerror-tried-to-erase-node-act-but-it-still-had-2-users-in-the-graph-",
)
def erases_first(traced):
    for node in dropouts(traced):
        traced.graph.erase_node(node)
        node.replace_all_uses_with(node.args[0])
    traced.recompile()


@wrong("edited", says="it was traced or built anew")
def traces_a_model_without_dropout(traced):
    again = fx.symbolic_trace(traced)
    forgets_to_recompile(again)
    again.recompile()
    return again


@breaks("in place:", case="an MLP with dropout")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced):
    traced = copy.deepcopy(traced)
    goes_from_the_end_and_deletes_by_path(traced)
    return traced


@wrong(
    "lints",
    node="block_3",
    says="reads block_1, which is not in this graph",
    read="03_replacement#erasing-refuses-then-forgets",
)
def writes_down_first_what_each_dropout_reads(traced):
    """By the time of the second of two in a row, what it read is erased."""
    inputs = {node: node.args[0] for node in dropouts(traced)}
    for node, value in inputs.items():
        node.replace_all_uses_with(value)
        traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()


@wrong("same_result", node="dropout", says="Node `dropout` is the first whose value is not what it should be")
def switches_the_function_off(traced):
    for node in traced.graph.find_nodes(op="call_function", target=nn.functional.dropout):
        node.update_kwarg("p", 0.0)
    goes_from_the_end_and_deletes_by_path(traced)


@wrong("nothing_left", says="your code leaves something behind: the model is now in eval mode.")
def switches_the_rest_to_eval(traced):
    """A dropout of whole rows stays, and works only in training mode."""
    goes_from_the_end_and_deletes_by_path(traced)
    traced.eval()


@wrong(
    "nothing_dies",
    node="right_1",
    says="is left: no node uses its result",
    read="03_replacement#three-steps-in-this-order",
)
def hands_over_the_readers_of_an_identity_too(traced):
    for node in traced.graph.find_nodes(op="call_module", target="right.1"):
        node.replace_all_uses_with(node.args[0])
    goes_from_the_end_and_deletes_by_path(traced)
