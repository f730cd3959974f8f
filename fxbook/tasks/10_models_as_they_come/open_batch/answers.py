"""Answers to 10-open-batch: programs exported for every batch size."""

import copy

import torch
from torch.export import Dim, ShapesCollection, export

from fxbook.tasks.answering import breaks, right, wrong

READS, TWO, SAME = "a model that reads the batch", "two inputs with one batch", "a dimension of the same size"


def opened(inputs, size):
    return {name: {0: size} for name in inputs}


@right
def says_which_dimensions_are_static(model, inputs):
    batch = Dim("batch", min=1)
    shapes = tuple((batch, *[Dim.STATIC] * (value.dim() - 1)) for value in inputs.values())
    return export(model, (), inputs, dynamic_shapes=shapes)


@right
def collects_the_shapes(model, inputs):
    shapes = ShapesCollection()
    for value in inputs.values():
        shapes[value] = {0: Dim("batch")}
    return export(model, args=(), kwargs=inputs, dynamic_shapes=shapes)


@right
def marks_copies(model, inputs):
    marked = {name: value.clone() for name, value in inputs.items()}
    for value in marked.values():
        torch._dynamo.mark_dynamic(value, 0)
    return export(model, (), marked)


@right
def exports_a_larger_batch(model, inputs):
    """Its batch size differs from every other dimension."""
    longer = {name: torch.cat([value] * 5)[:11] for name, value in inputs.items()}
    return export(model, (), longer, dynamic_shapes=opened(inputs, Dim("batch", min=1, max=10**6)))


@breaks("Export `model` so that the program runs with every batch size.", case=READS)
@wrong("takes_every_batch", says="The program rejects a batch of 1: AssertionError: Guard failed")
def fixes_all_sizes(model, inputs):
    return export(model, (), inputs)


@breaks("the first dimension of each tensor is the batch.", case=TWO)
@wrong("takes_every_batch", says="(two inputs with one batch): the program rejects a batch of 1")
def opens_the_first_input_alone(model, inputs):
    first = next(iter(inputs))
    return export(model, (), inputs, dynamic_shapes={name: {0: Dim.AUTO} if name == first else None for name in inputs})


@breaks("Return an ExportedProgram for every batch size.", case=TWO)
@wrong("ends well", says="UserError")
def makes_a_size_for_each_input(model, inputs):
    return export(model, (), inputs, dynamic_shapes={name: {0: Dim(f"batch_{name}")} for name in inputs})


@breaks("of each tensor is the batch.", case=READS)
@wrong("takes_every_batch", says="The program rejects a batch of 1: AssertionError: Guard failed")
def opens_the_second_dimension(model, inputs):
    return export(model, (), inputs, dynamic_shapes={name: {1: Dim("batch")} for name in inputs})


@breaks("Another dimension may happen to have the same size, but it stays fixed.", case=SAME)
@wrong("takes_every_batch", says="(a dimension of the same size): the program rejects a batch of 1: AssertionError")
def opens_each_dimension_of_that_size(model, inputs):
    batch, size = Dim("batch"), len(next(iter(inputs.values())))
    shapes = {name: [batch if other == size else None for other in value.shape] for name, value in inputs.items()}
    return export(model, (), inputs, dynamic_shapes=shapes)


@breaks("a dict that maps the names of the model's arguments to tensors", case=TWO)
@wrong("ends well", says="top-level keys must be the arg names")
def calls_the_input_x(model, inputs):
    return export(model, (), inputs, dynamic_shapes={"x": {0: Dim("batch")}})


@breaks("The program takes its inputs by name", case=READS)
@wrong("takes_the_example", says="`program.module()(**inputs)` raises: ValueError: Ran into a kwarg keyword mismatch")
def passes_the_inputs_by_position(model, inputs):
    return export(model, tuple(inputs.values()), dynamic_shapes=[{0: Dim("batch")} for _ in inputs])


@breaks("Return the `ExportedProgram`.", case=READS)
@wrong("a_program_is_returned", says="returns an object of class GraphModule: it should return an ExportedProgram")
def returns_the_module(model, inputs):
    return export(model, (), inputs, dynamic_shapes=opened(inputs, Dim("batch"))).module()


@breaks("and computes what the model computes.", case=READS)
@wrong("the_numbers", says="elements differ. The model is in eval mode: export it as it is")
def exports_a_copy_in_train_mode(model, inputs):
    trained = copy.deepcopy(model).train()
    return export(trained, (), inputs, dynamic_shapes=opened(inputs, Dim("batch")))


@breaks("but it stays fixed.", case=TWO)
@wrong("other_dimensions_stay", says="imension 1 of input `")
def makes_every_size_automatic(model, inputs):
    # With three dimensions, such an export would take too long.
    shapes = {name: [Dim.AUTO] * value.dim() if value.dim() < 3 else {0: Dim.AUTO} for name, value in inputs.items()}
    return export(model, (), inputs, dynamic_shapes=shapes)


@breaks("Do not change `model`.", case=SAME)
@wrong("input_unchanged", says="(a dimension of the same size): the model that was given has been changed")
def leaves_eval_mode_behind(model, inputs):
    return export(model.eval(), (), inputs, dynamic_shapes=opened(inputs, Dim("batch")))


@breaks("computes what the model computes.", case=SAME)
@wrong("the_numbers", says="(a dimension of the same size): with a batch of")
def exports_a_copy_in_eval_mode(model, inputs):
    return export(copy.deepcopy(model).eval(), (), inputs, dynamic_shapes=opened(inputs, Dim("batch")))
