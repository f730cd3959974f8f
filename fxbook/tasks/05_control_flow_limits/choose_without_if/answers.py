"""Answers to 05-choose-without-if."""

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

IN_PLACE = "01_node_creation#four-spellings-of-add"


@right
def subtracts_a_clamped_mean(x):
    return x - x.mean().clamp(min=0)


@right
def multiplies_by_the_condition(x):
    mean = torch.mean(x)
    return x - mean * (mean > 0)


@right
def fills_in_a_zero(x):
    mean = x.flatten().mean(dim=0)
    return torch.sub(x, mean.masked_fill(mean <= 0, 0.0))


class Centring(nn.Module):
    def forward(self, x):
        return x - nn.functional.relu(x.mean())


centring = Centring()
centring.__name__ = "centres_in_a_module"
right(centring)


@wrong("decides_once", node="gt", says="Node `gt` compares each element")
def chooses_for_each_element(x):
    return torch.where(x > 0, x - x.mean(), x)


@breaks("any number of dimensions.", case="a tensor of three dimensions")
@wrong("decides_once", node="mean", says="Node `mean` takes the mean over some dimensions")
def expects_exactly_two_dimensions(x):
    mean = x.mean((0, 1))
    return torch.where(mean > 0, x - mean, x)


@wrong("right_on_every_batch", node="output", says="On a batch of small numbers in float64, the result")
def returns_float32(x):
    return (x - x.mean().clamp(min=0)).float()


@wrong("batch_left_alone_untraced", node="sub", says="Your function overwrites the batch that it gets", read=IN_PLACE)
def subtracts_in_place(x):
    x -= x.mean().clamp(min=0)
    return x


@breaks("do not write into it;", case="a batch with a positive mean")
@wrong("batch_left_alone", node="sub_", says="overwrites the batch that was passed")
def calls_an_in_place_method(x):
    return x.sub_(x.mean().clamp(min=0))


@breaks("gradients must flow through it.", case="a batch with a positive mean")
@wrong("gradients_kept", node="detach", says="its gradients are wrong: that of `x` holds different numbers")
def detaches_the_mean(x):
    return x - x.mean().detach().clamp(min=0)


@breaks("minus its mean if the mean of the whole tensor is positive", case="a batch with one large number")
@wrong("right_on_every_batch", node="output", says="On a batch with one large number, the result is wrong")
def decides_by_the_median(x):
    return torch.where(x.median() > 0, x - x.mean(), x)


@breaks("and `x` itself if not.", case="a batch with a negative mean")
@wrong("right_on_every_batch", node="output", says="the result is wrong: every number is too large by ")
def centres_every_batch(x):
    return x - x.mean()


@breaks("any number of dimensions.", case="a tensor of one dimension")
@wrong("runs", node="flatten", says="Running the result raises IndexError: Dimension out of range")
def expects_two_dimensions_or_more(x):
    return x - x.flatten(1).mean().clamp(min=0)


@fx.wrap
def centred(x):
    return x - x.mean() if x.mean() > 0 else x


@breaks("every step is a node.", case="a batch with a positive mean")
@wrong("open_to_passes", node="centred", says="Node `centred` calls")
def wraps_the_branch(x):
    return centred(x)


@wrong("no_dead_nodes", node="gt", says="Node `gt` is dead", read="02_insertion_points#a-new-node-needs-a-user")
def prints_the_condition(x):
    print(x.mean() > 0)
    return x - x.mean().clamp(min=0)


traced = fx.symbolic_trace(Centring())
traced.__name__ = "passes_the_traced_module"
wrong("usable", says="The answer is of type GraphModule: pass your function itself")(traced)
