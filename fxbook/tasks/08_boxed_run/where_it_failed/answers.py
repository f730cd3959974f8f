"""Answers to 08-where-it-failed: the node that raised the error, and the shapes of the tensors that it uses."""

import copy
import traceback

import torch
from torch import fx
from torch.fx.passes.shape_prop import ShapeProp

from fxbook.tasks.answering import breaks, right, wrong


class Noting(fx.Interpreter):
    def run_node(self, n):
        self.current = n
        return super().run_node(n)


def shapes(runner, node):
    return [tuple(runner.env[read].shape) for read in node.all_input_nodes]


@right
def takes_the_first_node_without_a_value(traced, tensors):
    runner = fx.Interpreter(traced, garbage_collect_values=False)
    try:
        runner.run(*tensors)
    except Exception:
        node = next(node for node in traced.graph.nodes if node not in runner.env)
        return node.name, [runner.env[read].shape for read in node.all_input_nodes]


@right
def records_the_shapes_before_each_node(traced, tensors):
    class Writing(fx.Interpreter):
        reached = None

        def run_node(self, n):
            reads = [self.env[read] for read in n.all_input_nodes]
            self.reached = n.name, [value.shape for value in reads if isinstance(value, torch.Tensor)]
            return super().run_node(n)

    writing = Writing(traced)
    writing.extra_traceback = False
    try:
        writing.run(*tensors)
    except Exception:
        return writing.reached
    return None


@right
def finds_the_frame_of_the_node(traced, tensors):
    try:
        fx.Interpreter(traced).run(*tensors)
    except Exception as error:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_name == "run_node":
                return frame.f_locals["n"].name, shapes(frame.f_locals["self"], frame.f_locals["n"])
    return None


@right
def propagates_shapes_through_a_copy(traced, tensors):
    copied = copy.deepcopy(traced)
    try:
        ShapeProp(copied).propagate(*tensors)
    except Exception:
        for node in copied.graph.nodes:
            if "tensor_meta" not in node.meta:
                return node.name, [read.meta["tensor_meta"].shape for read in node.all_input_nodes]
    return None


def at_failure(traced, tensors, describe, errors=Exception, otherwise=None, kind=Noting):
    """What ``describe`` says about the interpreter when the run has failed."""
    runner = kind(traced)
    try:
        runner.boxed_run(tensors)
    except errors:
        return describe(runner)
    return otherwise


@breaks("raises an error of any class", case="an error of a user-defined class")
@wrong("ends well", says="your code raises RefusedError")
def catches_the_usual_classes(traced, tensors):
    usual = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
    return at_failure(traced, tensors, lambda runner: (runner.current.name, shapes(runner, runner.current)), usual)


@breaks("a list of the shapes of the tensors", case="an error of a user-defined class")
@wrong("failure_named", says="the node, `refused`, is right and uses 3 tensors, but the list of shapes has length 2")
def leaves_out_shapes_without_sizes(traced, tensors):
    return at_failure(
        traced, tensors, lambda runner: (runner.current.name, [*filter(None, shapes(runner, runner.current))])
    )


@breaks("the tensors that this node uses", case="a weight of another width")
@wrong("failure_named", says="`mul`, is right and uses 2 tensors, but the list of shapes has length 1")
def leaves_out_weights(traced, tensors):
    def describe(runner):
        reads = [read for read in runner.current.all_input_nodes if read.op != "get_attr"]
        return runner.current.name, [tuple(runner.env[read].shape) for read in reads]

    return at_failure(traced, tensors, describe)


@breaks("in the order of `all_input_nodes`.", case="a value used twice")
@wrong("failure_named", says="`matmul`, is right and uses 1 tensor, but the list of shapes has length 2")
def lists_a_shape_for_each_use(traced, tensors):
    def describe(runner):
        reads = []
        fx.node.map_arg((runner.current.args, runner.current.kwargs), reads.append)
        return runner.current.name, [tuple(runner.env[read].shape) for read in reads]

    return at_failure(traced, tensors, describe)


@breaks("return a pair:", case="the attention, a wrong shape")
@wrong("failure_named", says="not a pair: the name of a node, and a list of shapes")
def returns_the_name_alone(traced, tensors):
    return at_failure(traced, tensors, lambda runner: runner.current.name)


@breaks("If the run succeeds, return `None`.", case="the attention, no mistake")
@wrong("failure_named", says="The model runs without an error, but the answer is not None")
def names_the_output_if_the_run_succeeds(traced, tensors):
    return at_failure(
        traced, tensors, lambda runner: (runner.current.name, shapes(runner, runner.current)), otherwise=("output", [])
    )


@breaks("that raised it", case="the attention, a wrong shape")
@wrong("failure_named", says="The answer names node `softmax`, which ran without an error: a later node failed")
def names_the_last_node_that_ran(traced, tensors):
    runner = fx.Interpreter(traced, garbage_collect_values=False)
    try:
        runner.boxed_run(tensors)
    except Exception:
        node = list(runner.env)[-1]
        return node.name, shapes(runner, node)


@breaks("the tensors that this node uses", case="a wrong shape in a list")
@wrong("failure_named", says="`joined`, is right and uses 2 tensors, but the list of shapes has length 0")
def does_not_look_into_lists(traced, tensors):
    def describe(runner):
        node = runner.current
        reads = [read for read in (*node.args, *node.kwargs.values()) if isinstance(read, fx.Node)]
        return node.name, [tuple(runner.env[read].shape) for read in reads]

    return at_failure(traced, tensors, describe)


@wrong("failure_named", says="answer names node `words_positive`, which ran without an error: a later node failed")
def looks_up_a_path_as_one_attribute(traced, tensors):
    class Looking(Noting):
        def call_module(self, target, args, kwargs):
            return getattr(self.module, target)(*args, **kwargs)

    return at_failure(
        traced, tensors, lambda runner: (runner.current.name, shapes(runner, runner.current)), kind=Looking
    )


@breaks("the name of the node", case="the attention, a wrong shape")
@wrong("failure_named", says="`<built-in function matmul>`, the first part of the answer, is not the name of a node")
def names_the_target(traced, tensors):
    return at_failure(traced, tensors, lambda runner: (str(runner.current.target), shapes(runner, runner.current)))


@wrong("input_unchanged", says="The model that was given has been changed")
def remembers_the_node_on_the_module(traced, tensors):
    class Remembering(Noting):
        def run_node(self, n):
            self.module.last = n
            return super().run_node(n)

    return at_failure(
        traced, tensors, lambda runner: (runner.current.name, shapes(runner, traced.last)), kind=Remembering
    )
