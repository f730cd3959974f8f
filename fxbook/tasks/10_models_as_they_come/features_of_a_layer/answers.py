"""Answers to 10-features-of-a-layer."""

import copy
import re

from torch import fx

from fxbook.tasks.answering import breaks, right, wrong


def call_of(module, path):
    [node] = module.graph.find_nodes(op="call_module", target=path)
    return node


def finish(module):
    module.graph.eliminate_dead_code()
    module.delete_all_unused_submodules()
    module.recompile()
    return module


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def loops_over_the_nodes(module, path):
    for node in module.graph.nodes:
        if node.op == "call_module" and node.target == path:
            wanted = node
        elif node.op == "output":
            node.update_arg(0, wanted)
    finish(module)


@right
def replaces_in_the_output_alone(module, path):
    output = module.graph.output_node()
    node = call_of(module, path)
    if isinstance(output.args[0], fx.Node):
        output.replace_input_with(output.args[0], node)
    else:
        output.args = (node,)
    return finish(module)


@right
def deletes_layers_by_hand(module, path):
    module.graph.output_node().args = (call_of(module, path),)
    module.graph.eliminate_dead_code()
    used = {node.target for node in module.graph.nodes if node.op == "call_module"}
    for name, layer in list(module.named_modules()):
        is_inside = any(name.startswith(f"{target}.") for target in used)
        if name and name not in used and not is_inside and not list(layer.children()):
            module.delete_submodule(name)
    module.recompile()
    return module


@right
class Extractor:
    def __call__(self, module, path):
        graph = module.graph
        [node] = [node for node in graph.nodes if (node.op, node.target) == ("call_module", path)]
        graph.output_node().args = (node,)
        while graph.eliminate_dead_code():
            pass
        module.delete_all_unused_submodules()
        module.graph = graph
        return module


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("so that `module` returns the tensor that this node computes.", case="a small ViT")
@wrong("returns_the_node", node="model_vit_embeddings", says="the result of the node that calls")
def returns_what_the_first_layer_gets(module, path):
    first = call_of(module, re.sub(r"\d+$", "0", path))
    module.graph.output_node().args = (first.all_input_nodes[0],)
    return finish(module)


@breaks("Edit module, so that it returns what the layer at path computes.", case="a small ViT")
@wrong("same_output", node="output", says="a tensor was asked")
def returns_a_list_of_one(module, path):
    module.graph.output_node().args = ([call_of(module, path)],)
    return finish(module)


@breaks("the module `path`.", case="a stack of twelve layers")
@wrong("returns_the_node", node="layers_11", says="the result of the node that calls `layers.1` was asked")
def finds_the_last_name_that_begins_so(module, path):
    nodes = [node for node in module.graph.nodes if node.op == "call_module" and node.target.startswith(path)]
    module.graph.output_node().args = (nodes[-1],)
    return finish(module)


@wrong("recompiled", says="the compiled code is stale")
def does_not_recompile(module, path):
    module.graph.output_node().args = (call_of(module, path),)
    module.graph.eliminate_dead_code()
    module.delete_all_unused_submodules()
    return module


@breaks("Remove each node that the result does not need", case="a small ViT")
@wrong("no_dead_nodes", node="model_classifier", says="no node uses its result")
def leaves_the_rest_of_the_graph(module, path):
    module.graph.output_node().args = (call_of(module, path),)
    module.recompile()
    return module


@breaks("but keep all inputs.", case="an input that is not needed")
@wrong(
    "same_output",
    says="running the result raises TypeError",
    read="when_it_breaks/03_replacement#typeerror-adaptiveavgpool2dforward-takes-2-positional-arguments-but-3-were-given",
)
def erases_an_input_that_is_not_needed(module, path):
    module.graph.output_node().args = (call_of(module, path),)
    for node in reversed(module.graph.nodes):
        if node.op != "output" and not node.users:
            module.graph.erase_node(node)
    module.delete_all_unused_submodules()
    module.recompile()
    return module


@breaks("Exactly one of its nodes calls", case="a layer that is called like a method")
@wrong("returns_the_node", node="norm_2", says="the result of the node that calls `norm` was asked")
def finds_the_last_node_with_that_target(module, path):
    """A method can be called like a layer."""
    node = [node for node in module.graph.nodes if node.target == path][-1]
    module.graph.output_node().args = (node,)
    return finish(module)


@wrong("layers_are_gone", says="still holds it")
def keeps_a_layer_that_is_called_like_an_input(module, path):
    module.graph.output_node().args = (call_of(module, path),)
    module.graph.eliminate_dead_code()
    used = {node.target for node in module.graph.nodes}
    for name, layer in list(module.named_modules()):
        is_inside = any(name.startswith(f"{target}.") for target in used)
        if name not in used and not is_inside and not list(layer.children()):
            module.delete_submodule(name)
    module.recompile()
    return module


@breaks("Remove each layer that no node calls from `module` too.", case="a small ViT")
@wrong("layers_are_gone", says="still holds it")
def leaves_the_layers(module, path):
    module.graph.output_node().args = (call_of(module, path),)
    module.graph.eliminate_dead_code()
    module.recompile()
    return module


@wrong(
    "lints",
    node="model_vit_embeddings",
    says="nonexistent",
    read="when_it_breaks/01_node_creation#references-nonexistent-attribute",
)
def deletes_the_embeddings_too(module, path):
    module.graph.output_node().args = (call_of(module, path),)
    module.graph.eliminate_dead_code()
    module.delete_submodule("model.vit.embeddings")
    module.recompile()
    return module


@breaks("Return `module` or nothing.", case="a small ViT")
@wrong("edited", says="traced or built anew")
def traces_anew(module, path):
    class Whole(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return True

    module.graph.output_node().args = (call_of(module, path),)
    finish(module)
    return fx.GraphModule(module, Whole().trace(module))


@wrong("given_edited", says="copy")
def edits_a_copy(module, path):
    copied = copy.deepcopy(module)
    copied.graph.output_node().args = (call_of(copied, path),)
    return finish(copied)


@breaks("Remove each node that the result does not need", case="an input that is not needed")
@wrong("no_dead_nodes", node="side", says="(an input that is not needed): node `side` is dead: no node uses its result")
def erases_what_stands_behind_alone(module, path):
    node = call_of(module, path)
    module.graph.output_node().args = (node,)
    for later in reversed(list(module.graph.nodes)):
        needed = path in ("left", "right", "right_head") or later > node
        if needed and later.op not in ("output", "placeholder") and not later.users:
            module.graph.erase_node(later)
    module.delete_all_unused_submodules()
    module.recompile()
