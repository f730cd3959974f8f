"""Answers to 05-unroll-the-loop."""

import copy

import torch
from torch import fx, nn
from torch.fx.experimental.proxy_tensor import make_fx

from fxbook.tasks.answering import breaks, right, wrong

FIXED = "05_control_flow_limits#fix-an-argument-concrete_args"
NO_ANCHOR = "02_insertion_points#a-node-made-without-an-anchor"


def unsure(scores):
    return scores.softmax(dim=-1).amax(dim=-1).mean() < 0.5


class Layers(nn.Module):
    """The layers of a model, followed by a step."""

    def __init__(self, model, step):
        super().__init__()
        self.body, self.head = model.body, model.head
        self.step = step

    def forward(self, x):
        return self.step(self.head(torch.relu(self.body(x))))


def rounds(scores, count=4):
    for _ in range(count):
        scores = torch.where(unsure(scores), scores * 1.5, scores)
    return scores


@right
def stacks_all_results_and_takes_one(model):
    def step(scores):
        tries = [scores * 1.5**done for done in range(5)]
        going = torch.stack([unsure(each) for each in tries[:-1]]).long()
        return torch.stack(tries)[going.cumprod(dim=0).sum()]

    return fx.symbolic_trace(Layers(model, step))


@right
class AddsTheRounds(fx.Transformer):
    """Copies the graph of the layers, and adds the rounds before its output."""

    def __init__(self):
        pass

    def __call__(self, model):
        super().__init__(fx.symbolic_trace(Layers(model, lambda scores: scores)))
        return self.transform()

    def output(self, target, args, kwargs):
        return super().output(target, (rounds(args[0]),), kwargs)


@right
def builds_the_graph_by_hand(model):
    graph = fx.Graph()
    hidden = graph.call_function(torch.relu, (graph.call_module("body", (graph.placeholder("batch"),)),))
    scores = graph.call_module("head", (hidden,))
    for _ in range(4):
        largest = graph.call_function(torch.amax, (graph.call_function(torch.softmax, (scores, -1)), -1))
        low = graph.call_method("lt", (graph.call_method("mean", (largest,)), 0.5))
        scores = graph.call_method("where", (graph.call_method("mul", (scores, 1.5)), low, scores))
    graph.output(scores)
    return fx.GraphModule(model, graph)


@right
def interpolates_with_lerp(model):
    class Part(Layers):
        def forward(self, x):
            scores = self.head(nn.functional.relu(self.body(x)))
            for _ in range(4):
                scores = torch.lerp(scores, 1.5 * scores, unsure(scores).float())
            return scores

    return fx.symbolic_trace(Part(model, None))


@breaks("computes `model(x)` on every batch", "there are never more than four.", case="a batch that is never sure")
@wrong("right_on_every_batch", node="output", says="On a batch that is never sure, the result is wrong: it ran one")
def stops_a_round_early(model):
    return fx.symbolic_trace(Layers(model, lambda scores: rounds(scores, 3)))


@wrong(
    "writes_before_a_use",
    node="mul_",
    says="Node `mul_` works in place, so `where` gets the changed values of `head`",
    read="when_it_breaks/05_control_flow_limits#methods-that-write-in-place-are-recorded",
)
def multiplies_the_scores_in_place(model):
    def step(scores):
        for _ in range(4):
            scores = torch.where(unsure(scores), scores.mul_(1.5), scores)
        return scores

    return fx.symbolic_trace(Layers(model, step))


@wrong("runs", node="where", says="Running the result raises RuntimeError: The size of tensor")
def decides_for_each_row_without_its_dimension(model):
    def step(scores):
        for _ in range(4):
            low = scores.softmax(dim=-1).amax(dim=-1) < 0.5
            scores = torch.where(low, scores * 1.5, scores)
        return scores

    return fx.symbolic_trace(Layers(model, step))


@breaks("and does not write into `x`.", case="a batch that needs a few rounds")
@wrong("batch_left_alone", node="mul_", says="Running the result overwrites the batch that was passed")
def multiplies_the_batch_itself(model):
    """Without a bias, scaling the batch scales the scores."""

    class Growing(Layers):
        def forward(self, x):
            for _ in range(4):
                x.mul_(1 + 0.5 * unsure(super().forward(x)))
            return super().forward(x)

    return fx.symbolic_trace(Growing(model, lambda scores: scores))


@breaks("has the same gradients", case="a batch that is sure at once")
@wrong("gradients_kept", node="detach", says="its gradients are wrong: `x` gets none")
def detaches_the_scores(model):
    return fx.symbolic_trace(Layers(model, lambda scores: rounds(scores.detach())))


@fx.wrap
def wrapped_rounds(scores):
    return rounds(scores)


@breaks(
    "every step is a node:", "no node calls a function or a module of your own.", case="a batch that is sure at once"
)
@wrong("open_to_passes", node="wrapped_rounds", says="which no pass can look into")
def wraps_the_loop(model):
    return fx.symbolic_trace(Layers(model, lambda scores: wrapped_rounds(scores)))


@breaks("Trace it with `fx.symbolic_trace`", case="a batch that is sure at once")
@wrong(
    "traced_symbolically",
    node="t",
    says="Node `t` calls an ATen operator, as graphs from other front ends do: use `fx.symbolic_trace`",
    read="05_control_flow_limits#one-model-four-graphs",
)
def records_operators(model):
    return make_fx(Layers(model, rounds))(torch.randn(64, 4))


@breaks("Do not fix an argument.", case="a batch that is sure at once")
@wrong("nothing_fixed", node="_assert", says="checks an argument that was fixed while tracing", read=FIXED)
def fixes_the_argument(model):
    return fx.symbolic_trace(model, concrete_args={"times": 4})


@breaks("shares its weights", case="a batch that is sure at once")
@wrong("shares_weights", node="body", says="`body.weight` is not the object that the model holds")
def copies_the_layers(model):
    return fx.symbolic_trace(Layers(copy.deepcopy(model), rounds))


@breaks("and leave no dead nodes.", case="a batch that is sure at once")
@wrong("no_dead_nodes", node="lt_4", says="Node `lt_4` is dead", read="02_insertion_points#a-new-node-needs-a-user")
def checks_once_more_at_the_end(model):
    def step(scores):
        scores = rounds(scores)
        unsure(scores)
        return scores

    return fx.symbolic_trace(Layers(model, step))


@wrong("lints", node="output", says="node `output` uses where_3 before it is defined", read=NO_ANCHOR)
def adds_the_rounds_after_the_output(model):
    traced = fx.symbolic_trace(Layers(model, lambda scores: scores))
    output = traced.graph.output_node()
    output.args = (rounds(fx.Proxy(output.args[0])).node,)
    traced.recompile()
    return traced


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(model):
    traced = fx.symbolic_trace(Layers(model, lambda scores: scores))
    output = traced.graph.output_node()
    with traced.graph.inserting_before(output):
        output.args = (rounds(fx.Proxy(output.args[0])).node,)
    return traced


@breaks("and is not changed.", case="a batch that is sure at once")
@wrong("input_unchanged", says="The model that was given has been changed: `sharpen` is a different object")
def puts_the_rounds_into_the_model(model):
    class Step(nn.Module):
        def forward(self, scores, times=None):
            return rounds(scores)

    model.sharpen = Step()
    return fx.symbolic_trace(model)
