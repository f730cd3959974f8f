"""Answers to 05-wrap-the-loop."""

import copy

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

FIXED = "05_control_flow_limits#fix-an-argument-concrete_args"
NO_ANCHOR = "02_insertion_points#a-node-made-without-an-anchor"


def unsure(scores):
    return scores.softmax(dim=-1).amax(dim=-1).mean() < 0.5


def loop(scores, rounds=4):
    for _ in range(rounds):
        if not unsure(scores):
            break
        scores = scores * 1.5
    return scores


@fx.wrap
def sharpened(scores):
    return loop(scores)


class Layers(nn.Module):
    """The layers of a model, followed by a step."""

    def __init__(self, model, step):
        super().__init__()
        self.body, self.head = model.body, model.head
        self.step = step

    def forward(self, x):
        return self.step(self.head(torch.relu(self.body(x))))


def plain(scores):
    return loop(scores)


@right
def builds_the_graph_by_hand(model):
    graph = fx.Graph()
    hidden = graph.call_method("relu", (graph.call_module("body", (graph.placeholder("x"),)),))
    scores = graph.call_module("head", (hidden,))
    graph.output(graph.call_function(loop, (scores,), {"rounds": 4}))
    return fx.GraphModule(model, graph)


@right
def keeps_the_module_then_calls_a_function(model):
    class Keeping(fx.Tracer):
        def is_leaf_module(self, module, path):
            return path == "sharpen" or super().is_leaf_module(module, path)

    traced = fx.GraphModule(model, Keeping().trace(model))
    for node in traced.graph.find_nodes(op="call_module", target="sharpen"):
        node.op, node.target = "call_function", plain
        node.args, node.kwargs = node.args[:1], {}
    [times] = [node for node in traced.graph.find_nodes(op="placeholder") if node.target == "times"]
    traced.graph.erase_node(times)
    traced.delete_submodule("sharpen")
    traced.recompile()
    return traced


@right
def adds_the_call_with_a_proxy(model):
    tracer = fx.Tracer()
    graph = tracer.trace(Layers(model, lambda scores: scores))
    output = graph.output_node()
    with graph.inserting_before(output):
        called = graph.create_node("call_function", loop, output.args, {"rounds": 4}, name="sharpening")
    output.replace_input_with(output.args[0], called)
    return fx.GraphModule(tracer.root, graph)


@torch.library.custom_op("book05::sharpened", mutates_args=())
def registered(scores: torch.Tensor) -> torch.Tensor:
    return loop(scores).clone()


def backward(ctx, gradient):
    return gradient * ctx.factor


def setup_context(ctx, inputs, output):
    [scores] = inputs
    ctx.factor = (output.sum() / scores.sum()).item()


registered.register_autograd(backward, setup_context=setup_context)


@right
def registers_an_operator(model):
    return fx.symbolic_trace(Layers(model, lambda scores: torch.ops.book05.sharpened(scores)))


@fx.wrap
def one_round(scores):
    return scores * 1.5 if unsure(scores) else scores


@breaks("which does all of the sharpening", case="a batch that is sure at once")
@wrong("one_own_call", node="one_round_1", says="4 nodes call functions of your own: one must do all")
def wraps_one_round(model):
    def step(scores):
        for _ in range(4):
            scores = one_round(scores)
        return scores

    return fx.symbolic_trace(Layers(model, step))


@fx.wrap
def head_and_loop(features, weight, bias):
    return loop(nn.functional.linear(features, weight, bias))


@breaks("the layers are separate nodes.", case="a batch that is sure at once")
@wrong("one_own_call", node="head_and_loop", says="Node `head_and_loop` does the work of `head` too")
def wraps_the_head_too(model):
    class WithoutHead(Layers):
        def forward(self, x):
            return head_and_loop(torch.relu(self.body(x)), self.head.weight, self.head.bias)

    return fx.symbolic_trace(WithoutHead(model, None))


@fx.wrap
@torch.no_grad()
def without_gradients(scores):
    return loop(scores)


@breaks("has the same gradients.", case="a batch that needs a few rounds")
@wrong("gradients_kept", node="without_gradients", says="its gradients are wrong: `x` gets none")
def sharpens_under_no_grad(model):
    return fx.symbolic_trace(Layers(model, lambda scores: without_gradients(scores)))


@fx.wrap
def three_rounds(scores):
    return loop(scores, 3)


@breaks("computes `model(x)` on every batch.", case="a batch that is never sure")
@wrong("right_on_every_batch", node="output", says="On a batch that is never sure, the result is wrong: it ran one")
def stops_a_round_early(model):
    return fx.symbolic_trace(Layers(model, lambda scores: three_rounds(scores)))


@breaks("One node calls a function of yours", case="a batch that is sure at once")
@wrong("one_own_call", says="No node calls a function of your own")
def unrolls_it_with_where(model):
    def step(scores):
        for _ in range(4):
            scores = torch.where(unsure(scores), scores * 1.5, scores)
        return scores

    return fx.symbolic_trace(Layers(model, step))


@breaks("Do not fix an argument.", case="a batch that is sure at once")
@wrong("nothing_fixed", node="_assert", says="checks an argument that was fixed while tracing", read=FIXED)
def fixes_the_argument(model):
    return fx.symbolic_trace(model, concrete_args={"times": 2})


@breaks("and holds no module;", case="a batch that is sure at once")
@wrong("all_in_sight", node="calls_the_module", says="calls a function that holds a Sharpen")
def calls_the_module_of_the_model(model):
    sharpen = model.sharpen

    def calls_the_module(scores):
        return sharpen(scores)

    traced = fx.symbolic_trace(Layers(model, lambda scores: scores))
    output = traced.graph.output_node()
    with traced.graph.inserting_before(output):
        output.args = (traced.graph.call_function(calls_the_module, output.args),)
    traced.recompile()
    return traced


@wrong("lints", node="output", says="node `output` uses sharpened before it is defined", read=NO_ANCHOR)
def adds_the_call_after_the_output(model):
    traced = fx.symbolic_trace(Layers(model, lambda scores: scores))
    output = traced.graph.output_node()
    output.args = (traced.graph.call_function(sharpened, output.args),)
    traced.recompile()
    return traced


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(model):
    traced = fx.symbolic_trace(Layers(model, lambda scores: scores))
    output = traced.graph.output_node()
    with traced.graph.inserting_before(output):
        output.args = (traced.graph.call_function(sharpened, output.args),)
    return traced


@wrong(
    "runs",
    node="loop",
    says="Running the result raises TypeError: loop() got an unexpected keyword argument 'times'",
    read="when_it_breaks/05_control_flow_limits#typeerror--got-an-unexpected-keyword-argument-long",
)
def passes_an_argument_by_another_name(model):
    traced = fx.symbolic_trace(Layers(model, lambda scores: scores))
    output = traced.graph.output_node()
    with traced.graph.inserting_before(output):
        output.args = (traced.graph.call_function(loop, output.args, {"times": 4}),)
    traced.recompile()
    return traced


@wrong("no_dead_nodes", node="getattr_1", says="is dead", read="02_insertion_points#a-new-node-needs-a-user")
def prints_the_shape_while_tracing(model):
    def step(scores):
        print(scores.shape)
        return sharpened(scores)

    return fx.symbolic_trace(Layers(model, step))


@breaks("shares its weights", case="a batch that is sure at once")
@wrong("shares_weights", node="body", says="`body.weight` is not the object that the model holds")
def copies_the_layers(model):
    return fx.symbolic_trace(Layers(copy.deepcopy(model), lambda scores: sharpened(scores)))


@breaks("and is not changed.", case="a batch that is sure at once")
@wrong("input_unchanged", says="The model that was given has been changed: `sharpen` is a different object")
def puts_the_function_into_the_model(model):
    class Step(nn.Module):
        def forward(self, scores, times=None):
            return sharpened(scores)

    model.sharpen = Step()
    return fx.symbolic_trace(model)
