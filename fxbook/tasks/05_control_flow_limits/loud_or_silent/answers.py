"""Answers to 05-loud-or-silent."""

import copy

import torch
from torch import fx
from torch.fx.proxy import TraceError
from torch.utils import _pytree as pytree

from fxbook.tasks.answering import breaks, right, wrong

PROVEN = "05_control_flow_limits#what-python-does-leaves-no-node"
ISINSTANCE = "when_it_breaks/05_control_flow_limits#isinstance-type-and-match-describe-the-proxy"
EXCEPT = "when_it_breaks/05_control_flow_limits#except-swallows-the-traceerror"


def judged(function, batches, same, loud=Exception, for_traced=torch.clone, for_function=torch.clone):
    """The solution, with parameters for the comparison, the errors that stop tracing, and the copies of a batch."""
    try:
        traced = fx.symbolic_trace(function)
    except loud:
        return "stops"
    for batch in batches:
        try:
            if not same(traced(for_traced(batch)), function(for_function(batch))):
                return "differs"
        except Exception:
            return "differs"
    return "same"


def itself(batch):
    return batch


def close(found, expected):
    torch.testing.assert_close(found, expected)
    return True


def leaf_by_leaf(found, expected, same=torch.equal):
    ours, form = pytree.tree_flatten(found)
    theirs, other_form = pytree.tree_flatten(expected)
    return form == other_form and all(a.dtype == b.dtype and same(a, b) for a, b in zip(ours, theirs, strict=True))


@right
class RunsTheGraphNodeByNode:
    def __call__(self, function, batches):
        try:
            tracer = fx.Tracer()
            graph = tracer.trace(function)
        except Exception:
            return "stops"
        run = fx.Interpreter(fx.GraphModule(tracer.root, graph)).run
        pairs = ((batch, copy.deepcopy(batch), copy.deepcopy(batch)) for batch in batches)
        differing = [batch for batch, one, other in pairs if not self.agrees(run, function, one, other)]
        return "differs" if differing else "same"

    def agrees(self, run, function, batch, other):
        expected = function(batch)
        try:
            torch.testing.assert_close(run(other), expected, rtol=0, atol=0)
        except Exception:
            return False
        return True


@right
def compares_what_tolist_gives(function, batches):
    def described(value):
        match value:
            case torch.Tensor():
                return str(value.dtype), tuple(value.shape), value.tolist()
            case dict():
                return {key: described(item) for key, item in value.items()}
        return type(value).__name__, [described(item) for item in value]

    return judged(function, batches, lambda found, expected: described(found) == described(expected))


class DifferenceError(Exception):
    """The traced function differs from the function."""


@right
def raises_what_it_finds(function, batches):
    def compared(traced):
        for batch in batches:
            wanted = pytree.tree_flatten_with_path(function(copy.deepcopy(batch)))
            try:
                found = pytree.tree_flatten_with_path(traced(copy.deepcopy(batch)))
            except Exception as error:
                raise DifferenceError from error
            if wanted[1] != found[1]:
                raise DifferenceError
            for (_, one), (_, other) in zip(wanted[0], found[0], strict=True):
                if one.shape != other.shape or one.dtype != other.dtype or not bool((one == other).all()):
                    raise DifferenceError

    try:
        compared(fx.symbolic_trace(function))
    except DifferenceError:
        return "differs"
    except Exception:
        return "stops"
    return "same"


@right
def compares_every_batch_before_deciding(function, batches):
    try:
        tracer = fx.Tracer()
        graph = tracer.trace(function)
    except Exception:
        return "stops"
    traced = fx.GraphModule(tracer.root, graph)
    differing = 0
    for batch in batches:
        own, other = batch.detach().clone(), batch.detach().clone()
        try:
            differing += not pytree.tree_all(lambda same: same, leaves_agree(function(own), traced.forward(other)))
        except Exception:
            differing += 1
    return "differs" if differing else "same"


def leaves_agree(expected, found):
    """For each pair of tensors, whether they are equal; raises if the containers differ."""
    return pytree.tree_map(lambda one, other: one.dtype == other.dtype and torch.equal(one, other), expected, found)


@breaks("raises an error, whatever its class;", case="`per_row`")
@wrong(
    "ends well",
    says="your function must catch it, whatever its class, and return a verdict.",
    read="when_it_breaks/05_control_flow_limits#runtimeerror-len-is-not-supported-in-symbolic-tracing-by-default",
)
def catches_one_class_of_errors(function, batches):
    return judged(function, batches, close, loud=TraceError)


@breaks("on one of the batches", case="`doubled_if_positive`")
@wrong(
    "right_verdict",
    says="For `doubled_if_positive`, your function returns 'same', but on the second of three",
    read=EXCEPT,
)
def compares_only_the_last_batch(function, batches):
    return judged(function, batches[-1:], close)


@breaks("the traced function raises an error", case="`square_or_flat`")
@wrong("right_verdict", says="For `square_or_flat`, your function returns 'stops', but it is the traced", read=EXCEPT)
def counts_every_error_as_a_stop(function, batches):
    try:
        traced = fx.symbolic_trace(function)
        for batch in batches:
            if not leaf_by_leaf(traced(batch.clone()), function(batch.clone()), torch.allclose):
                return "differs"
    except Exception:
        return "stops"
    return "same"


@breaks("or lists, tuples and dicts of tensors.", case="`halved_three_times`")
@wrong("right_verdict", says="`halved_three_times`, your function returns 'differs', but the traced", read=PROVEN)
def compares_tensors_only(function, batches):
    return judged(function, batches, torch.allclose)


@breaks("an extra or missing item:", case="`in_parts`")
@wrong("right_verdict", says="your function returns 'same', but the function returns a list of two", read=ISINSTANCE)
def forgets_the_lengths(function, batches):
    def same(found, expected):
        if isinstance(expected, dict):
            return all(same(found[key], expected[key]) for key in expected)
        if isinstance(expected, list | tuple):
            return all(same(a, b) for a, b in zip(found, expected, strict=False))
        return close(found, expected)

    return judged(function, batches, same)


@breaks("or dtype", case="`precise`")
@wrong("right_verdict", says="your function returns 'same', but the function returns float64", read=ISINSTANCE)
def ignores_the_dtype(function, batches):
    return judged(function, batches, lambda a, b: torch.testing.assert_close(a, b, check_dtype=False) is None)


@breaks("`function` can write into its argument;", case="`doubled_in_place`")
@wrong("right_verdict", says="your function returns 'differs', but on equal batches", read=PROVEN)
def passes_the_same_batch_to_both(function, batches):
    return judged(function, batches, close, for_traced=itself, for_function=itself)


@breaks("Different values", case="`slightly_more`")
@wrong("right_verdict", says="your function returns 'same', but the traced function returns", read=ISINSTANCE)
def allows_too_large_a_tolerance(function, batches):
    return judged(function, batches, lambda a, b: torch.testing.assert_close(a, b, rtol=0.01, atol=0.01) is None)


@breaks("a different shape", case="`one_more_dimension`")
@wrong("right_verdict", says="your function returns 'same', but the function returns the shape", read=ISINSTANCE)
def compares_with_broadcasting(function, batches):
    return judged(function, batches, lambda a, b: leaf_by_leaf(a, b, torch.allclose))


@breaks("or key", case="`renamed`")
@wrong("right_verdict", says="your function returns 'same', but the function returns a dict", read=ISINSTANCE)
def ignores_the_containers(function, batches):
    return judged(function, batches, lambda a, b: close(pytree.tree_leaves(a), pytree.tree_leaves(b)))


@breaks('`"same"` otherwise.', case="`row_mean`")
@wrong("right_verdict", says="your function returns 'differs', but the traced function returns what", read=PROVEN)
def compares_objects(function, batches):
    return judged(function, batches, lambda a, b: a is b)


@breaks("the batches must keep their values.", case="`doubled_in_place`")
@wrong("nothing_left", says="a tensor that your code was given holds different values")
def runs_the_function_on_the_given_batches(function, batches):
    return judged(function, batches, close, for_function=itself)
