"""Answers to 11-scale-the-results: an exported program with scaled results and a correct signature."""

import torch
from torch import fx
from torch.export.graph_signature import OutputKind, OutputSpec, TensorArgument

from fxbook.tasks.answering import breaks, right, wrong

aten = torch.ops.aten
MODEL, TWO = "the model of the exercise", "two results, one computed from the other"


def scaled(program, node, factor, target=aten.mul.Tensor):
    """A new node before the output, with the old node's ``meta["val"]``."""
    with program.graph.inserting_before(program.graph.output_node()):
        new = program.graph.call_function(target, (node, factor))
    new.meta["val"] = node.meta["val"]
    return new


def is_result(spec):
    return spec.kind is OutputKind.USER_OUTPUT


def scale_results(program, factor, chosen, target=aten.mul.Tensor):
    output = program.graph.output_node()
    results = list(output.args[0])
    for place, spec in enumerate(program.graph_signature.output_specs):
        if chosen(spec):
            results[place] = scaled(program, results[place], factor, target)
            spec.arg = TensorArgument(name=results[place].name)
    output.args = (tuple(results),)


@right
def makes_new_specs(program, factor):
    output, specs = program.graph.output_node(), program.graph_signature.output_specs
    pairs = list(zip(output.args[0], specs, strict=True))
    pairs = [(scaled(program, node, factor) if is_result(spec) else node, spec) for node, spec in pairs]
    output.args = (tuple(node for node, _ in pairs),)
    specs[:] = [OutputSpec(spec.kind, TensorArgument(name=node.name), spec.target) for node, spec in pairs]


@right
def makes_one_node_for_each_value(program, factor):
    output, new = program.graph.output_node(), {}
    results = list(output.args[0])
    for place, spec in enumerate(program.graph_signature.output_specs):
        if is_result(spec):
            node = results[place]
            new[node] = new.get(node) or scaled(program, node, factor)
            results[place] = new[node]
            spec.arg = TensorArgument(name=new[node].name)
    output.args = (results,)
    return program


@right
def counts_the_outputs_from_the_end(program, factor):
    """The results are the last outputs of the graph."""
    output, specs = program.graph.output_node(), program.graph_signature.output_specs
    first = len(specs) - len(program.graph_signature.user_outputs)
    results = list(output.args[0])
    for place in range(first, len(specs)):
        results[place] = scaled(program, results[place], factor)
        specs[place].arg.name = results[place].name
    output.args = (tuple(results),)


@right
def exports_the_program_inside_another(program, factor):
    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = program.module()

        def forward(self, *inputs):
            return torch.utils._pytree.tree_map(lambda result: result * factor, self.inner(*inputs))

    return torch.export.export(Scaled(), program.example_inputs[0])


@breaks("`torch.export.save` accepts the program.", case=MODEL)
@wrong("can_be_saved", says="saved and loaded: output 0 is node `mul_tensor`, but the signature names `add`.")
def leaves_the_signature_as_it_was(program, factor):
    output, specs = program.graph.output_node(), program.graph_signature.output_specs
    pairs = zip(output.args[0], specs, strict=True)
    output.args = (tuple(scaled(program, node, factor) if is_result(spec) else node for node, spec in pairs),)


@breaks("Edit an exported program in place", case=MODEL)
@wrong("results_are_scaled", says="Result 0 is not the old result times `factor`")
def edits_a_new_module(program, factor):
    """``module()`` returns a new module in each call."""
    module = program.module()
    output = module.graph.output_node()
    with module.graph.inserting_before(output):
        output.args = fx.map_arg(output.args, lambda node: module.graph.call_function(aten.mul.Tensor, (node, factor)))
    module.recompile()


@breaks("each of its results", case=TWO)
@wrong("results_are_scaled", says="Result 1 is not the old result times `factor`")
def scales_the_first_result_alone(program, factor):
    first = next(spec for spec in program.graph_signature.output_specs if is_result(spec))
    scale_results(program, factor, lambda spec: spec is first)


@breaks("A result can have other users", case=TWO)
@wrong("results_are_scaled", says="Result 1 is not the old result times `factor`")
def scales_every_use(program, factor):
    output = program.graph.output_node()
    for node, spec in list(zip(output.args[0], program.graph_signature.output_specs, strict=True)):
        if is_result(spec):
            with program.graph.inserting_after(node):
                new = program.graph.call_function(aten.mul.Tensor, (node, factor))
            new.meta["val"] = node.meta["val"]
            node.replace_all_uses_with(new, delete_user_cb=lambda user, new=new: user is not new)
            spec.arg = TensorArgument(name=new.name)


@breaks("which get the same values as before.", case="a buffer and an input that are written")
@wrong("buffers_are_kept", says="the buffer `total` has a different value than before the edit")
def scales_every_output(program, factor):
    scale_results(program, factor, lambda spec: True)


@breaks("A program can also write to buffers and to its inputs", case="a buffer and an input that are written")
@wrong("inputs_are_kept", says="the input `seen` has a different value than before the edit")
def scales_all_but_the_buffers(program, factor):
    scale_results(program, factor, lambda spec: spec.kind is not OutputKind.BUFFER_MUTATION)


@breaks("each of its results", case="a buffer and an input that are written")
@wrong("buffers_are_kept", says="the buffer `total` has a different value than before the edit")
def looks_for_the_names_of_results(program, factor):
    """The new value of a buffer can also be a result, and then both positions have its name."""
    names = set(program.graph_signature.user_outputs)
    scale_results(program, factor, lambda spec: spec.arg.name in names)


@breaks("it can be returned twice", case="a value returned twice")
@wrong("can_be_saved", says="the edited program cannot be saved and loaded: output 2 is node `mul")
def renames_in_the_signature(program, factor):
    """``replace_all_uses`` replaces a name that occurs twice in both places."""
    output = program.graph.output_node()
    results = list(output.args[0])
    for place, spec in enumerate(program.graph_signature.output_specs):
        if is_result(spec):
            old = results[place]
            results[place] = scaled(program, old, factor)
            program.graph_signature.replace_all_uses(old.name, results[place].name)
    output.args = (tuple(results),)


@breaks("and it can be an input of the program.", case="an input that is returned")
@wrong("can_be_saved", says="the edited program cannot be saved and loaded: input 1 is node `kept`")
def renames_each_value_once(program, factor):
    """If an input is returned, ``replace_all_uses`` renames it among the inputs, too."""
    output, new = program.graph.output_node(), {}
    results = list(output.args[0])
    for place, spec in enumerate(program.graph_signature.output_specs):
        old = results[place]
        if is_result(spec) and old not in new:
            new[old] = scaled(program, old, factor)
        results[place] = new[old] if is_result(spec) else old
    for old, node in new.items():
        program.graph_signature.replace_all_uses(old.name, node.name)
    output.args = (tuple(results),)


@breaks("is multiplied by `factor`.", case=MODEL)
@wrong("results_are_scaled", says="Result 0 is not the old result times `factor`")
def adds_the_factor(program, factor):
    scale_results(program, factor, is_result, aten.add.Tensor)
