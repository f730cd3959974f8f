"""Answers to 17-honest-pass: erase what does nothing, and say so."""

import copy

from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassResult
from torch.fx.passes.infra.pass_manager import PassManager

from fxbook.tasks.answering import breaks, right, wrong

MODIFIED = "17_ship_a_pass#modified-decides-when-the-loop-stops"


def is_idle(node, module):
    return node.op == "call_module" and type(module.get_submodule(node.target)) is nn.Identity


def erased(module):
    """The calls that were erased."""
    found = [node for node in module.graph.nodes if is_idle(node, module)]
    for node in found:
        node.replace_all_uses_with(node.all_input_nodes[0])
        module.graph.erase_node(node)
    return found


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def walks_once(module):
    modified = False
    for node in module.graph.nodes:
        if is_idle(node, module):
            node.replace_all_uses_with(node.args[0] if node.args else node.kwargs["input"])
            module.graph.erase_node(node)
            modified = True
    module.recompile()
    return PassResult(module, modified)


@right
def asks_by_path(module):
    paths = {path for path, layer in module.named_modules(remove_duplicate=False) if isinstance(layer, nn.Identity)}
    calls = [node for path in paths for node in module.graph.find_nodes(op="call_module", target=path)]
    for node in calls:
        [value] = node.all_input_nodes
        node.replace_all_uses_with(value)
        module.graph.erase_node(node)
    module.recompile()
    return PassResult(module, calls != [])


@right
def through_a_manager(module):
    """The manager compiles."""
    return PassManager([lambda given: PassResult(given, bool(erased(given)))], steps=3)(module)


@right
def copies_the_graph_without_them(module):
    """A new graph for the same module."""
    new, table = fx.Graph(module), {}
    modified = False
    for node in module.graph.nodes:
        if is_idle(node, module):
            table[node] = table[node.all_input_nodes[0]]
            modified = True
        else:
            table[node] = new.node_copy(node, table.__getitem__)
    if modified:
        module.graph = new
    return PassResult(module, modified)


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("whose `modified` is true exactly if a call was erased.", case="a block of GPT-2, which has no such layer")
@wrong("honest", says="`modified` is true, and the graph has no call")
def always_says_true(module):
    erased(module)
    module.recompile()
    return PassResult(module, True)


@breaks("whose `modified` is true exactly", case="a block of ResNet")
@wrong("honest", says="`modified` is false, and calls of `nn.Identity` were erased")
def always_says_false(module):
    erased(module)
    module.recompile()
    return PassResult(module, False)


@breaks("The pass is run twice.", case="a block of ResNet")
@wrong("idempotent", says="A second run finds nothing to erase")
def asks_whether_the_module_has_such_a_layer(module):
    """The layers stay, so it says so twice."""
    modified = any(isinstance(layer, nn.Identity) for layer in module.modules())
    erased(module)
    module.recompile()
    return PassResult(module, modified)


@breaks("Return a `PassResult` with this module,", case="a block of GPT-2, which has no such layer")
@wrong(
    "returns_a_pass_result",
    says="a `PassResult` was asked",
    read="when_it_breaks/17_ship_a_pass#typeerror-the-result-of-the-pass--should-be-type-passresult",
)
def returns_the_module(module):
    erased(module)
    module.recompile()
    return module


@breaks("Edit the module in place,", case="a block of GPT-2, which has no such layer")
@wrong(
    "returns_a_pass_result",
    says="another module than the one that it was given",
    read="when_it_breaks/17_ship_a_pass#typeerror-the-result-of-the-pass--should-be-type-passresult",
)
def edits_a_copy(module):
    draft = copy.deepcopy(module)
    modified = bool(erased(draft))
    draft.recompile()
    return PassResult(draft, modified)


@breaks("and compile it.", case="a block of ResNet")
@wrong("compiled_anew", says="The compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_compile(module):
    return PassResult(module, bool(erased(module)))


@breaks("erases every call of an `nn.Identity`", case="a block of ResNet")
@wrong("none_left", says="still calls an `nn.Identity`")
def erases_the_first(module):
    calls = [node for node in module.graph.nodes if is_idle(node, module)][:1]
    for node in calls:
        node.replace_all_uses_with(node.all_input_nodes[0])
        module.graph.erase_node(node)
    module.recompile()
    return PassResult(module, bool(calls))


@breaks("every call", case="such layers in a row, by keyword, unused, at the end")
@wrong("none_left", says="still calls an `nn.Identity`")
def takes_inputs_by_position_alone(module):
    calls = [node for node in module.graph.nodes if is_idle(node, module) and node.args]
    for node in calls:
        node.replace_all_uses_with(node.args[0])
        module.graph.erase_node(node)
    module.recompile()
    return PassResult(module, bool(calls))


@wrong(
    "ends well",
    says="`second_1` has its input by keyword",
    read="when_it_breaks/01_node_creation#indexerror-tuple-index-out-of-range",
)
def takes_the_first_argument(module):
    calls = [node for node in module.graph.nodes if is_idle(node, module)]
    for node in calls:
        node.replace_all_uses_with(node.args[0])
        module.graph.erase_node(node)
    module.recompile()
    return PassResult(module, bool(calls))


@breaks("exactly if a call was erased.", case="one such layer, whose result is unused")
@wrong("honest", says="(one such layer, whose result is unused): `modified` is false, and calls")
def asks_for_more_than_one(module):
    calls = erased(module)
    module.recompile()
    return PassResult(module, len(calls) > 1)


@breaks("every call", case="a layer by its second name")
@wrong("none_left", says="(a layer by its second name): node `idle` still calls an `nn.Identity`")
def knows_one_name_of_a_layer(module):
    paths = [path for path, layer in module.named_modules() if isinstance(layer, nn.Identity)]
    calls = [node for path in paths for node in module.graph.find_nodes(op="call_module", target=path)]
    for node in calls:
        node.replace_all_uses_with(node.all_input_nodes[0])
        module.graph.erase_node(node)
    module.recompile()
    return PassResult(module, bool(calls))


@wrong("lints_after", says="does not lint", read="02_insertion_points#what-lint-lets-through")
def collects_the_inputs_first(module):
    """Of two in a row, the second gets an input that is gone."""
    pairs = [(node, node.all_input_nodes[0]) for node in module.graph.nodes if is_idle(node, module)]
    for node, value in pairs:
        node.replace_all_uses_with(value)
        module.graph.erase_node(node)
    module.recompile()
    return PassResult(module, bool(pairs))


@breaks("and nothing else:", case="a block of ResNet")
@wrong("others_stay", says="is gone: only calls of `nn.Identity` were to go")
def drops_activations_too(module):
    calls = [
        node
        for node in module.graph.find_nodes(op="call_module")
        if isinstance(module.get_submodule(node.target), nn.Identity | nn.ReLU | nn.Tanh)
    ]
    for node in calls:
        node.replace_all_uses_with(node.all_input_nodes[0])
        module.graph.erase_node(node)
    module.recompile()
    return PassResult(module, bool(calls))


@breaks("and nothing else:", case="such layers in a row, by keyword, unused, at the end")
@wrong("others_stay", says="(such layers in a row, by keyword, unused, at the end): node `mix_1` is gone")
def eliminates_dead_code(module):
    """A call that nothing used before goes too."""
    found = erased(module)
    module.graph.eliminate_dead_code()
    module.recompile()
    return PassResult(module, bool(found))


@breaks("the layers stay in the module,", case="a block of ResNet")
@wrong("layers_stay", says="is gone from the module: only calls were to be erased")
def deletes_unused_layers(module):
    found = erased(module)
    module.delete_all_unused_submodules()
    module.recompile()
    return PassResult(module, bool(found))


@breaks("the users of the call use its input.", case="a block of ResNet")
@wrong("computes_the_same", says="After the pass, the result")
def gives_the_users_the_first_input(module):
    [x] = module.graph.find_nodes(op="placeholder")
    calls = [node for node in module.graph.nodes if is_idle(node, module)]
    for node in calls:
        node.replace_all_uses_with(x)
        module.graph.erase_node(node)
    module.recompile()
    return PassResult(module, bool(calls))


@wrong("idempotent", says="A second run changes the graph again")
def renames_a_node_each_time(module):
    """It marks that it was here before."""
    found = erased(module)
    if module.meta.setdefault("runs", 0):
        last = module.graph.output_node().prev
        last.name = f"{last.name}_seen"
    module.meta["runs"] += 1
    module.recompile()
    return PassResult(module, bool(found))
