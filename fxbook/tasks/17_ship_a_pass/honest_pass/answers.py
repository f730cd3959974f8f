"""Answers to 17-honest-pass: erase the calls that do nothing, and report whether there were any."""

import copy

from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassResult
from torch.fx.passes.infra.pass_manager import PassManager

from fxbook.tasks.answering import breaks, right, wrong

RETURN = "when_it_breaks/17_ship_a_pass#typeerror-the-result-of-the-pass--should-be-type-passresult"

NOTES = "13_retrace_and_meta#which-notes-survive"


def is_idle(node, module):
    return node.op == "call_module" and type(module.get_submodule(node.target)) is nn.Identity


def erased(module, found=None, value_of=lambda node: node.all_input_nodes[0]):
    """Erase the calls, by default those to ``nn.Identity``, and return them."""
    found = [node for node in module.graph.nodes if is_idle(node, module)] if found is None else found
    for node in found:
        node.replace_all_uses_with(value_of(node))
        module.graph.erase_node(node)
    return found


def finished(module, found):
    module.recompile()
    return PassResult(module, bool(found))


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
def finds_calls_by_path(module):
    paths = {path for path, layer in module.named_modules(remove_duplicate=False) if isinstance(layer, nn.Identity)}
    calls = [node for path in paths for node in module.graph.find_nodes(op="call_module", target=path)]
    return finished(module, erased(module, calls))


@right
def uses_a_pass_manager(module):
    return PassManager([lambda given: PassResult(given, bool(erased(given)))], steps=3)(module)


@right
def copies_the_graph_without_them(module):
    new, table = fx.Graph(module), {}
    for node in module.graph.nodes:
        idle = is_idle(node, module)
        table[node] = table[node.all_input_nodes[0]] if idle else new.node_copy(node, table.__getitem__)
    modified = len(new.nodes) < len(module.graph.nodes)
    module.graph = new
    return PassResult(module, modified)


@breaks(
    "its `modified` is `True` if a call was erased, and `False` otherwise.",
    case="a block of GPT-2 without an identity",
)
@wrong("honest", says="`modified` is true, but the graph had no call")
def always_reports_true(module):
    erased(module)
    return finished(module, True)


@breaks("The check runs the pass twice.", case="a block of ResNet")
@wrong("idempotent", says="A second run finds nothing to erase")
def reports_whether_the_module_has_such_a_layer(module):
    erased(module)
    return finished(module, any(isinstance(layer, nn.Identity) for layer in module.modules()))


@breaks("Return a `PassResult` with this module;", case="a block of GPT-2 without an identity")
@wrong("returns_a_pass_result", says="not a `PassResult`", read=RETURN)
def returns_the_module(module):
    return finished(module, erased(module)).graph_module


@breaks("Edit the module in place", case="a block of GPT-2 without an identity")
@wrong("returns_a_pass_result", says="a different module from the one it was given", read=RETURN)
def edits_a_copy(module):
    draft = copy.deepcopy(module)
    return finished(draft, erased(draft))


@breaks("and recompile it.", case="a block of ResNet")
@wrong("compiled_anew", says="The compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_compile(module):
    return PassResult(module, bool(erased(module)))


@wrong(
    "ends well",
    says="`second_1` has its input as a keyword argument",
    read="when_it_breaks/01_node_creation#indexerror-tuple-index-out-of-range",
)
def takes_the_first_argument(module):
    return finished(module, erased(module, value_of=lambda node: node.args[0]))


@breaks("erases every call to an `nn.Identity`", case="a layer called by its second name")
@wrong("none_left", says="(a layer called by its second name): node `idle` still calls an `nn.Identity`")
def overlooks_second_names(module):
    paths = [path for path, layer in module.named_modules() if isinstance(layer, nn.Identity)]
    calls = [node for path in paths for node in module.graph.find_nodes(op="call_module", target=path)]
    return finished(module, erased(module, calls))


@wrong("lints_after", says="rejects the graph", read="02_insertion_points#what-lint-lets-through")
def collects_the_inputs_first(module):
    """The users of the second of two calls in a row then use a node that was erased."""
    inputs = {node: node.all_input_nodes[0] for node in module.graph.nodes if is_idle(node, module)}
    return finished(module, erased(module, value_of=inputs.get))


@breaks("and nothing else:", case="identities in a row, by keyword, unused and at the end")
@wrong("others_stay", says="node `mix_1` is missing: erase only calls")
def eliminates_dead_code(module):
    found = erased(module)
    module.graph.eliminate_dead_code()
    return finished(module, found)


@breaks("The other nodes keep their defaults, annotations and `meta`.", case="a block of GPT-2 without an identity")
@wrong("nothing_else_changed", says="Node `size` has lost its note `nn_module_stack` in `meta`", read=NOTES)
def makes_the_other_nodes_anew(module):
    """`node_copy` keeps defaults, annotations and notes; `create_node` does not."""
    new, table = fx.Graph(), {}
    for node in module.graph.nodes:
        args, kwargs = fx.map_arg((node.args, node.kwargs), table.__getitem__)
        idle = is_idle(node, module)
        table[node] = args[0] if idle and args else kwargs.get("input")
        if not idle:
            table[node] = new.create_node(node.op, node.target, args, kwargs, node.name, node.type)
    modified = len(new.nodes) < len(module.graph.nodes)
    module.graph = new
    return PassResult(module, modified)


@breaks("the layers stay in the module,", case="a block of ResNet")
@wrong("layers_stay", says="is missing from the module: erase only calls")
def deletes_unused_layers(module):
    found = erased(module)
    module.delete_all_unused_submodules()
    return finished(module, found)


@breaks("the users of the call use its input.", case="a block of ResNet")
@wrong("computes_the_same", says="After the pass, the result")
def replaces_calls_by_the_input_of_the_graph(module):
    [x] = module.graph.find_nodes(op="placeholder")
    return finished(module, erased(module, value_of=lambda node: x))
