"""Answers to 03-drop-dropout."""

import copy

from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

LEFT_OVER = "03_replacement#a-function-by-a-module-a-module-by-a-function"
THREE_STEPS = "03_replacement#three-steps-in-this-order"


def dropouts(traced):
    return [
        node
        for node in traced.graph.nodes
        if node.op == "call_module" and isinstance(traced.get_submodule(node.target), nn.Dropout)
    ]


def take_out(traced, *nodes, value_of=lambda node: node.args[0]):
    for node in nodes:
        node.replace_all_uses_with(value_of(node))
        traced.graph.erase_node(node)


def finish(traced):
    traced.delete_all_unused_submodules()
    traced.recompile()


@right
def erases_from_the_end_and_deletes_by_path(traced):
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
def finds_the_calls_of_each_path(traced):
    paths = [path for path, module in traced.named_modules() if isinstance(module, nn.Dropout)]
    for path in paths:
        for node in traced.graph.find_nodes(op="call_module", target=path):
            take_out(traced, node)
        traced.delete_submodule(path)
    traced.graph.lint()
    traced.recompile()


@right
def edits_a_copy_of_the_graph_and_assigns_it(traced):
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


@breaks("Erase every call to an `nn.Dropout`", case="an MLP with dropout")
@wrong("dropouts_taken_out", node="drop", says="still calls an nn.Dropout")
def forgets_to_erase(traced):
    for node in dropouts(traced):
        node.replace_all_uses_with(node.args[0])
    finish(traced)


@breaks("`traced` holds no `nn.Dropout`.", case="an MLP with dropout")
@wrong("no_leftovers", says="still holds the submodule `drop`", read=LEFT_OVER)
def forgets_the_modules(traced):
    take_out(traced, *dropouts(traced))
    traced.recompile()


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    take_out(traced, *dropouts(traced))
    traced.delete_all_unused_submodules()


@breaks("the users of the call use its input instead.", case="a dropout called often, two in a row, other kinds")
@wrong("uses_input_of_dropout", node="step_10", says="uses `step_8`, but should use `step_6`, the input of the dropout")
def uses_the_node_before(traced):
    take_out(traced, *dropouts(traced), value_of=lambda node: node.prev)
    finish(traced)


@breaks("such as `nn.Dropout1d`", case="a dropout called often, two in a row, other kinds")
@wrong("dropouts_taken_out", says="is gone, but should have stayed: `self.near.class_dropout2d(")
def removes_every_kind_of_dropout(traced):
    for node in list(traced.graph.nodes):
        if node.op == "call_module" and "Dropout" in type(traced.get_submodule(node.target)).__name__:
            take_out(traced, node)
    finish(traced)


@wrong(
    "arguments_kept",
    node="step_10",
    says="has 1 of its 2 arguments left",
    read="when_it_breaks/03_replacement#indexerror-replacement-index-1-out-of-range-for-positional-args-tuple",
)
def assigns_all_arguments_of_a_user(traced):
    for node in dropouts(traced):
        for user in list(node.users):
            user.args = (node.args[0],)
        traced.graph.erase_node(node)
    finish(traced)


@wrong("edited", says="it was traced or built again")
def traces_a_model_without_dropout(traced):
    again = fx.symbolic_trace(traced)
    forgets_to_recompile(again)
    again.recompile()
    return again


@breaks("in place:", case="an MLP with dropout")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced):
    traced = copy.deepcopy(traced)
    erases_from_the_end_and_deletes_by_path(traced)
    return traced


@wrong(
    "lints",
    node="step_4",
    says="uses step_2, which is not in this graph",
    read="03_replacement#erasing-refuses-then-forgets",
)
def lists_the_inputs_first(traced):
    """If there are two dropouts in a row, the input of the second has been erased by then."""
    inputs = {node: node.args[0] for node in dropouts(traced)}
    take_out(traced, *inputs, value_of=inputs.get)
    finish(traced)


@wrong("same_result", node="step_12", says="Node `step_12` is the first whose value is not what it should be")
def switches_the_function_off(traced):
    for node in traced.graph.find_nodes(op="call_function", target=nn.functional.dropout):
        node.update_kwarg("p", 0.0)
    erases_from_the_end_and_deletes_by_path(traced)


@wrong("no_dead_nodes", node="step_8", says="is dead: no node uses its result", read=THREE_STEPS)
def replaces_an_identity_too(traced):
    for node in traced.graph.find_nodes(op="call_module", target="right.1"):
        node.replace_all_uses_with(node.args[0])
    erases_from_the_end_and_deletes_by_path(traced)


@breaks("Keep everything else", case="a dropout called often, two in a row, other kinds")
@wrong(
    "lints",
    node="norm_weight",
    says="references nonexistent attribute norm",
    read="when_it_breaks/01_node_creation#references-nonexistent-attribute",
)
def deletes_every_layer_that_no_node_calls(traced):
    """A node may fetch the weight of such a layer."""
    take_out(traced, *dropouts(traced))
    called = {node.target for node in traced.graph.nodes if node.op == "call_module"}
    for path, module in list(traced.named_modules()):
        if path and path not in called and not list(module.children()):
            traced.delete_submodule(path)
    traced.recompile()
