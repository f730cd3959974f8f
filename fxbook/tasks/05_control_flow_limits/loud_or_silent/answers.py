"""Answers to 05-loud-or-silent."""

import copy

import torch
from torch import fx
from torch.fx.proxy import TraceError
from torch.utils import _pytree as pytree

from fxbook.tasks.answering import right, wrong

PROVEN = "05_control_flow_limits#what-python-does-leaves-no-node"
STOPS = "05_control_flow_limits#when-it-breaks"
ISINSTANCE = "when_it_breaks/05_control_flow_limits#isinstance-type-and-match-describe-the-proxy"
EXCEPT = "when_it_breaks/05_control_flow_limits#except-swallows-the-traceerror"


def judged(function, batches, same, loud=Exception, clone=torch.clone):
    """A verdict whose way to compare, and what else a wrong one does, is left to say."""
    try:
        traced = fx.symbolic_trace(function)
    except loud:
        return "stops"
    for batch in batches:
        try:
            if not same(traced(clone(batch)), function(clone(batch))):
                return "differs"
        except Exception:
            return "differs"
    return "same"


def close(found, expected):
    torch.testing.assert_close(found, expected)
    return True


def leaf_by_leaf(found, expected, same=torch.equal):
    ours, form = pytree.tree_flatten(found)
    theirs, other_form = pytree.tree_flatten(expected)
    return form == other_form and all(a.dtype == b.dtype and same(a, b) for a, b in zip(ours, theirs, strict=True))


@right
def compares_leaf_by_leaf(function, batches):
    return judged(function, batches, leaf_by_leaf)


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
        except (RuntimeError, AssertionError):
            return False
        return True


@wrong(
    "ends well",
    says="your function was to catch it, whatever its class, and give a verdict.",
    read="when_it_breaks/05_control_flow_limits#runtimeerror-len-is-not-supported-in-symbolic-tracing-by-default",
)
def knows_one_error(function, batches):
    return judged(function, batches, close, loud=TraceError)


@wrong(
    "ends well",
    says="Your code raises ValueError: invalid __array_struct__",
    read="when_it_breaks/05_control_flow_limits#valueerror-invalid-__array_struct__",
)
def lists_three_errors(function, batches):
    return judged(function, batches, close, loud=(TraceError, TypeError, RuntimeError))


@wrong("right_verdict", says="Of `doubled_if_positive` you say 'same', but on the second of three", read=EXCEPT)
def takes_the_last_batch(function, batches):
    return judged(function, batches[-1:], close)


@wrong("right_verdict", says="Of `doubled_if_positive` you say 'same', but on the second of three", read=EXCEPT)
def takes_the_first_batch(function, batches):
    return judged(function, batches[:1], close)


@wrong("right_verdict", says="Of `checked` you say 'differs', but it is tracing that raises", read=STOPS)
def has_one_try_for_both(function, batches):
    try:
        traced = fx.symbolic_trace(function)
        for batch in batches:
            torch.testing.assert_close(traced(batch.clone()), function(batch.clone()))
    except AssertionError:
        return "differs"
    except Exception:
        return "stops"
    return "same"


@wrong("right_verdict", says="Of `square_or_flat` you say 'stops', but the traced function raises", read=EXCEPT)
def takes_any_error_for_a_stop(function, batches):
    try:
        traced = fx.symbolic_trace(function)
        for batch in batches:
            if not leaf_by_leaf(traced(batch.clone()), function(batch.clone()), torch.allclose):
                return "differs"
    except Exception:
        return "stops"
    return "same"


@wrong("ends well", says="where the function does not: your function was to catch that, too, and give a verdict.")
def expects_the_traced_function_to_run(function, batches):
    try:
        traced = fx.symbolic_trace(function)
    except Exception:
        return "stops"
    for batch in batches:
        if not leaf_by_leaf(traced(batch.clone()), function(batch.clone()), torch.allclose):
            return "differs"
    return "same"


@wrong("right_verdict", says="Of `halved_three_times` you say 'differs', but the traced function returns", read=PROVEN)
def compares_tensors_only(function, batches):
    return judged(function, batches, torch.allclose)


@wrong("right_verdict", says="Of `with_its_double` you say 'same', but the second of the two tensors", read=ISINSTANCE)
def compares_the_first_item(function, batches):
    return judged(function, batches, lambda a, b: close(pytree.tree_leaves(a)[0], pytree.tree_leaves(b)[0]))


@wrong("right_verdict", says="Of `in_parts` you say 'same', but the function returns two tensors", read=ISINSTANCE)
def forgets_the_lengths(function, batches):
    def same(found, expected):
        if isinstance(expected, dict):
            return all(same(found[key], expected[key]) for key in expected)
        if isinstance(expected, list | tuple):
            return all(same(a, b) for a, b in zip(found, expected, strict=False))
        return close(found, expected)

    return judged(function, batches, same)


@wrong("right_verdict", says="Of `with_size` you say 'same', but the function returns a dict of two", read=ISINSTANCE)
def goes_through_the_keys_of_the_traced(function, batches):
    def same(found, expected):
        if isinstance(found, dict):
            return all(same(found[key], expected[key]) for key in found)
        return close(found, expected)

    return judged(function, batches, same)


@wrong("right_verdict", says="Of `repeated` you say 'same', but one of the 6000 elements", read=ISINSTANCE)
def compares_as_text(function, batches):
    return judged(function, batches, lambda found, expected: str(found) == str(expected))


@wrong("right_verdict", says="Of `precise` you say 'same', but the function returns float64", read=ISINSTANCE)
def lets_the_dtype_differ(function, batches):
    return judged(function, batches, lambda a, b: torch.testing.assert_close(a, b, check_dtype=False) is None)


@wrong("right_verdict", says="Of `doubled_in_place` you say 'differs', but on equal batches", read=PROVEN)
def hands_the_same_batch_to_both(function, batches):
    return judged(function, batches, close, clone=lambda batch: batch)


@wrong("right_verdict", says="For `row_mean` your function returns no verdict")
def prints_the_verdict(function, batches):
    print(judged(function, batches, close))
