"""Answers to 08-where-it-failed: the node that raised, and the shapes that it read."""

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


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def keeps_all_and_takes_the_first_missing(traced, tensors):
    runner = fx.Interpreter(traced, garbage_collect_values=False)
    try:
        runner.run(*tensors)
    except Exception:
        node = next(node for node in traced.graph.nodes if node not in runner.env)
        return node.name, [runner.env[read].shape for read in node.all_input_nodes]


@right
def notes_the_shapes_before_each_node(traced, tensors):
    class Writing(fx.Interpreter):
        noted = None

        def run_node(self, n):
            reads = [self.env[read] for read in n.all_input_nodes]
            self.noted = n.name, [value.shape for value in reads if isinstance(value, torch.Tensor)]
            return super().run_node(n)

    writing = Writing(traced)
    writing.extra_traceback = False
    try:
        writing.run(*tensors)
    except Exception:
        return writing.noted
    return None


@right
def finds_the_frame_of_the_node(traced, tensors):
    try:
        fx.Interpreter(traced).run(*tensors)
    except Exception as error:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_name == "run_node":
                return frame.f_locals["n"], shapes(frame.f_locals["self"], frame.f_locals["n"])
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


# ---- wrong -----------------------------------------------------------------------------------------------------------


def told(describe, errors=Exception, otherwise=None, kind=Noting, **options):
    def where(traced, tensors):
        runner = kind(traced, **options)
        try:
            runner.boxed_run(tensors)
        except errors:
            return describe(runner)
        return otherwise

    return where


OWN = "(an error of its own class)"


@breaks("raises an error of any class", case="an error of its own class")
@wrong("ends well", says=f"{OWN}: your code raises RefusedError")
def catches_the_usual_classes(traced, tensors):
    usual = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
    return told(lambda runner: (runner.current.name, shapes(runner, runner.current)), usual)(traced, tensors)


@breaks("a list of the shapes of the tensors", case="an error of its own class")
@wrong("tells_failure", says=f"{OWN}: node `refused` is right and uses 3 tensors, but the answer has 2 shapes")
def leaves_out_shapes_without_sizes(traced, tensors):
    return told(lambda runner: (runner.current.name, [*filter(None, shapes(runner, runner.current))]))(traced, tensors)


@breaks("the tensors that this node uses", case="a weight that does not fit")
@wrong(
    "tells_failure", says="(a weight that does not fit): node `mul` is right and uses 2 tensors, but the answer has 1"
)
def leaves_out_weights(traced, tensors):
    def describe(runner):
        reads = [read for read in runner.current.all_input_nodes if read.op != "get_attr"]
        return runner.current.name, [tuple(runner.env[read].shape) for read in reads]

    return told(describe)(traced, tensors)


@breaks("in the order of `all_input_nodes`.", case="a value used twice")
@wrong("tells_failure", says="(a value used twice): node `matmul` is right and uses 1 tensor, but the answer has 2")
def takes_a_value_for_each_use(traced, tensors):
    def describe(runner):
        reads = []
        fx.node.map_arg((runner.current.args, runner.current.kwargs), reads.append)
        return runner.current.name, [tuple(runner.env[read].shape) for read in reads]

    return told(describe)(traced, tensors)


@breaks("return a pair:", case="the attention, a wrong shape")
@wrong("tells_failure", says="not a pair: the name of a node, and a list of shapes")
def tells_the_name_alone(traced, tensors):
    return told(lambda runner: runner.current.name)(traced, tensors)


@breaks("If the run succeeds, return `None`.", case="the attention, no mistake")
@wrong("tells_failure", says="The model runs without an error, but the answer is not None")
def tells_the_last_node_of_a_run_that_succeeds(traced, tensors):
    return told(lambda runner: (runner.current.name, shapes(runner, runner.current)), otherwise=("output", []))(
        traced, tensors
    )


@breaks("that raised it", case="the attention, a wrong shape")
@wrong("tells_failure", says="The answer names node `softmax`, which ran without an error: a later one raised it")
def names_the_last_node_that_ran(traced, tensors):
    runner = fx.Interpreter(traced, garbage_collect_values=False)
    try:
        runner.boxed_run(tensors)
    except Exception:
        node = list(runner.env)[-1]
        return node.name, shapes(runner, node)


@breaks("the tensors that this node uses", case="a wrong shape in a list")
@wrong("tells_failure", says="(a wrong shape in a list): node `cat` is right and uses 2 tensors, but the answer has 0")
def looks_into_no_list(traced, tensors):
    def describe(runner):
        node = runner.current
        reads = [read for read in (*node.args, *node.kwargs.values()) if isinstance(read, fx.Node)]
        return node.name, [tuple(runner.env[read].shape) for read in reads]

    return told(describe)(traced, tensors)


@breaks("the name of the node", case="the attention, a wrong shape")
@wrong("tells_failure", says="`<built-in function matmul>`, the first part of the answer, is not the name of a node")
def names_the_target(traced, tensors):
    return told(lambda runner: (str(runner.current.target), shapes(runner, runner.current)))(traced, tensors)


@wrong("input_unchanged", says="The model that was given has been changed")
def remembers_the_node_on_the_module(traced, tensors):
    class Remembering(Noting):
        def run_node(self, n):
            self.module.last = n.name, [tuple(self.env[read].shape) for read in n.all_input_nodes if n.op != "output"]
            return super().run_node(n)

    try:
        Remembering(traced).boxed_run(tensors)
    except Exception:
        return traced.last
