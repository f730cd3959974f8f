"""Answers to 10-features-of-a-layer: a graph that returns the result of a layer."""

import copy

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


@right
def loops_over_the_nodes(module, path):
    for node in module.graph.nodes:
        if node.op == "call_module" and node.target == path:
            result = node
        elif node.op == "output":
            node.update_arg(0, result)
    finish(module)


@right
def replaces_the_result_in_the_output(module, path):
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
    used |= {node.target.rpartition(".")[0] for node in module.graph.nodes if node.op == "get_attr"}
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


VIT, STACK, METHOD = "a small ViT", "a stack of twelve layers", "a layer named like a method"
SPARE = "an input that is not needed"
TWO_OUTPUTS = "when_it_breaks/02_insertion_points#silent-the-first-of-two-outputs-wins"


def returning(module, result, erase=True, delete=True, recompile=True):
    module.graph.output_node().args = (result,)
    if erase:
        module.graph.eliminate_dead_code()
    if delete:
        module.delete_all_unused_submodules()
    if recompile:
        module.recompile()
    return module


@breaks("Edit module, so that it returns what the layer at path computes.", case=VIT)
@wrong("same_output", node="output", says="not a tensor")
def returns_a_list_of_one(module, path):
    return returning(module, [call_of(module, path)])


@breaks("so that `module` returns the tensor that this node computes.", "the module at `path`.", case=STACK)
@wrong("returns_the_node", node="layers_11", says="is returned instead of the node that calls `layers.1`")
def looks_for_a_prefix_of_the_path(module, path):
    nodes = [node for node in module.graph.nodes if node.op == "call_module" and node.target.startswith(path)]
    return returning(module, nodes[-1])


@breaks("Exactly one of its nodes calls", case=METHOD)
@wrong("returns_the_node", node="norm_2", says="is returned instead of the node that calls `norm`")
def takes_the_last_node_with_that_target(module, path):
    return returning(module, [node for node in module.graph.nodes if node.target == path][-1])


@wrong("recompiled", says="the compiled code is stale")
def does_not_recompile(module, path):
    return returning(module, call_of(module, path), recompile=False)


@breaks("Remove each node that the result does not need", case=SPARE)
@wrong("no_dead_nodes", node="side", says=f"({SPARE}): node `side` is dead: no node uses its result")
def erases_only_what_comes_after(module, path):
    returning(module, node := call_of(module, path), erase=False, delete=False)
    for later in reversed(list(module.graph.nodes)):
        needed = path in ("left", "right", "right_head") or later > node
        if needed and later.op not in ("output", "placeholder") and not later.users:
            module.graph.erase_node(later)
    return returning(module, node, erase=False)


@breaks("but keep all inputs.", case=SPARE)
@wrong("inputs_stay", says="the input `spare` is gone: the graph should keep all inputs")
def erases_inputs_without_users(module, path):
    for node in module.graph.find_nodes(op="placeholder"):
        if not node.users:
            module.graph.erase_node(node)
    return returning(module, call_of(module, path))


@breaks("Also remove from `module` each layer that no node calls or fetches from.", case=STACK)
@wrong("layers_are_gone", says="no node calls or fetches from `squash`, but the module still has it")
def deletes_layers_with_weights_only(module, path):
    spared = {name: layer for name, layer in module.named_children() if not list(layer.parameters())}
    returning(module, call_of(module, path))
    for name, layer in spared.items():
        module.add_submodule(name, layer)


@wrong("called_layers_are_whole", node="model_vit_embeddings", says="a part of this layer, is gone")
def deletes_the_parts_of_called_layers(module, path):
    returning(module, call_of(module, path))
    used = [node.target for node in module.graph.nodes if node.op in ("call_module", "get_attr")]
    for name, _ in list(module.named_modules()):
        if name and not any(f"{target}.".startswith(f"{name}.") for target in used):
            module.delete_submodule(name)


@wrong("weights_stay", says="the weight `shift` is gone: remove layers, but leave other weights as they were")
def deletes_weights_that_no_node_fetches(module, path):
    returning(module, call_of(module, path))
    fetched = [node.target for node in module.graph.nodes if node.op == "get_attr"]
    for name in [name for name, _ in module.named_parameters(recurse=False) if name not in fetched]:
        delattr(module, name)


@wrong("lints", node="output", says="is a second `output`: a run ends at the first", read=TWO_OUTPUTS)
def adds_an_earlier_output(module, path):
    with module.graph.inserting_after(node := call_of(module, path)):
        module.graph.output(node)
    module.recompile()


@breaks("Return `module` or nothing.", case=VIT)
@wrong("edited", says="traced or built again")
def traces_anew(module, path):
    class Whole(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return True

    returning(module, call_of(module, path))
    return fx.GraphModule(module, Whole().trace(module))


@wrong("given_edited", says="copy")
def edits_a_copy(module, path):
    copied = copy.deepcopy(module)
    return returning(copied, call_of(copied, path))
