"""Answers to 05-loud-or-silent."""

import copy

import torch
from torch import fx
from torch.fx.proxy import TraceError
from torch.utils import _pytree as pytree

from fxbook.tasks.answering import breaks, right, wrong

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
    """The traced function does something else."""


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
def asks_for_every_batch_first(function, batches):
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
    """For each tensor whether the other is equal; raises where the containers differ."""
    return pytree.tree_map(lambda one, other: one.dtype == other.dtype and torch.equal(one, other), expected, found)


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


@breaks("on one of the batches", case="`doubled_if_positive`")
@wrong("right_verdict", says="Of `doubled_if_positive` you say 'same', but on the second of three", read=EXCEPT)
def takes_the_last_batch(function, batches):
    return judged(function, batches[-1:], close)


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


@breaks("the traced function raises an error", case="`square_or_flat`")
@wrong(
    "right_verdict",
    says="Of `square_or_flat` you say 'stops', but it is the traced function that raises",
    read=EXCEPT,
)
def takes_any_error_for_a_stop(function, batches):
    try:
        traced = fx.symbolic_trace(function)
        for batch in batches:
            if not leaf_by_leaf(traced(batch.clone()), function(batch.clone()), torch.allclose):
                return "differs"
    except Exception:
        return "stops"
    return "same"


@wrong("ends well", says="your function was to catch that, too, and give a verdict.")
def expects_the_traced_function_to_run(function, batches):
    try:
        traced = fx.symbolic_trace(function)
    except Exception:
        return "stops"
    for batch in batches:
        if not leaf_by_leaf(traced(batch.clone()), function(batch.clone()), torch.allclose):
            return "differs"
    return "same"


@breaks("or lists, tuples and dicts of tensors.", case="`halved_three_times`")
@wrong("right_verdict", says="Of `halved_three_times` you say 'differs', but the traced function returns", read=PROVEN)
def compares_tensors_only(function, batches):
    return judged(function, batches, torch.allclose)


@wrong("right_verdict", says="Of `with_its_double` you say 'same', but the second of the two tensors", read=ISINSTANCE)
def compares_the_first_item(function, batches):
    return judged(function, batches, lambda a, b: close(pytree.tree_leaves(a)[0], pytree.tree_leaves(b)[0]))


@breaks("one item more or less:", case="`in_parts`")
@wrong(
    "right_verdict",
    says="Of `in_parts` you say 'same', but the function returns a list of two, the",
    read=ISINSTANCE,
)
def forgets_the_lengths(function, batches):
    def same(found, expected):
        if isinstance(expected, dict):
            return all(same(found[key], expected[key]) for key in expected)
        if isinstance(expected, list | tuple):
            return all(same(a, b) for a, b in zip(found, expected, strict=False))
        return close(found, expected)

    return judged(function, batches, same)


@wrong(
    "right_verdict",
    says="Of `with_size` you say 'same', but the function returns a dict with the",
    read=ISINSTANCE,
)
def goes_through_the_keys_of_the_traced(function, batches):
    def same(found, expected):
        if isinstance(found, dict):
            return all(same(found[key], expected[key]) for key in found)
        return close(found, expected)

    return judged(function, batches, same)


@wrong("right_verdict", says="Of `repeated` you say 'same', but one of the 6000 elements", read=ISINSTANCE)
def compares_as_text(function, batches):
    return judged(function, batches, lambda found, expected: str(found) == str(expected))


@breaks("or dtype", case="`precise`")
@wrong("right_verdict", says="Of `precise` you say 'same', but the function returns float64", read=ISINSTANCE)
def lets_the_dtype_differ(function, batches):
    return judged(function, batches, lambda a, b: torch.testing.assert_close(a, b, check_dtype=False) is None)


@breaks("`function` can write into the tensor that it gets;", case="`doubled_in_place`")
@wrong("right_verdict", says="Of `doubled_in_place` you say 'differs', but on equal batches", read=PROVEN)
def hands_the_same_batch_to_both(function, batches):
    return judged(function, batches, close, clone=lambda batch: batch)


@breaks("Different numbers", case="`slightly_more`")
@wrong("right_verdict", says="Of `slightly_more` you say 'same', but the traced function returns", read=ISINSTANCE)
def lets_numbers_be_near(function, batches):
    return judged(function, batches, lambda a, b: torch.testing.assert_close(a, b, rtol=0.01, atol=0.01) is None)


@breaks("a different shape", case="`one_more_dimension`")
@wrong("right_verdict", says="Of `one_more_dimension` you say 'same', but the function returns", read=ISINSTANCE)
def lets_shapes_be_broadcast(function, batches):
    return judged(function, batches, lambda a, b: leaf_by_leaf(a, b, torch.allclose))


@breaks("or key", case="`renamed`")
@wrong("right_verdict", says="Of `renamed` you say 'same', but the function returns a dict with the", read=ISINSTANCE)
def compares_tensors_in_their_order(function, batches):
    def same(found, expected):
        return all(map(torch.equal, pytree.tree_leaves(found), pytree.tree_leaves(expected)))

    def sizes(found, expected):
        return len(pytree.tree_leaves(found)) == len(pytree.tree_leaves(expected))

    def dtypes(found, expected):
        return [a.dtype for a in pytree.tree_leaves(found)] == [a.dtype for a in pytree.tree_leaves(expected)]

    return judged(function, batches, lambda a, b: sizes(a, b) and dtypes(a, b) and same(a, b))


@breaks("another container", case="`in_a_list`")
@wrong("right_verdict", says="Of `in_a_list` you say 'same', but the function returns a", read=ISINSTANCE)
def unpacks_a_list_of_one(function, batches):
    def unpacked(value):
        return value[0] if isinstance(value, list) and len(value) == 1 else value

    return judged(function, batches, lambda a, b: close(unpacked(a), unpacked(b)))


@wrong("ends well", says="Your code raises IndexError: Dimension out of range")
def expects_runtime_errors_of_the_traced(function, batches):
    try:
        traced = fx.symbolic_trace(function)
    except Exception:
        return "stops"
    for batch in batches:
        try:
            torch.testing.assert_close(traced(batch.clone()), function(batch.clone()))
        except (RuntimeError, AssertionError, TypeError):
            return "differs"
    return "same"


@breaks("one item more", case="`one_part_more`")
@wrong(
    "right_verdict", says="Of `one_part_more` you say 'same', but the function returns a list of one", read=ISINSTANCE
)
def goes_through_what_the_function_returns(function, batches):
    def same(found, expected):
        if isinstance(expected, dict):
            return all(same(found[key], expected[key]) for key in expected)
        if isinstance(expected, list | tuple):
            return not isinstance(found, torch.Tensor) and all(same(found[i], each) for i, each in enumerate(expected))
        return close(found, expected)

    return judged(function, batches, same)


@breaks("another container", case="`in_rows`")
@wrong("right_verdict", says="Of `in_rows` you say 'same', but the function returns a list of two", read=ISINSTANCE)
def takes_rows_for_a_list(function, batches):
    def same(found, expected):
        if isinstance(expected, torch.Tensor):
            return close(found, expected)
        keys = expected if isinstance(expected, dict) else range(len(expected))
        return len(found) == len(expected) and all(same(found[key], expected[key]) for key in keys)

    return judged(function, batches, same)


@breaks('`"same"` otherwise.', case="`row_mean`")
@wrong("right_verdict", says="Of `row_mean` you say 'differs', but the traced function returns what", read=PROVEN)
def compares_objects(function, batches):
    return judged(function, batches, lambda a, b: a is b)


def told_by_its_class(function, batches, loud):
    """Takes any other error of tracing for one of the traced function."""
    try:
        return judged(function, batches, close, loud)
    except Exception:
        return "differs"


@breaks("raises an error, whatever its class;", case="`per_row`")
@wrong("right_verdict", says="Of `per_row` you say 'differs', but tracing it raises RuntimeError", read=STOPS)
def stops_at_a_trace_error_only(function, batches):
    return told_by_its_class(function, batches, TraceError)


@breaks("whatever its class;", case="`root`")
@wrong("right_verdict", says="Of `root` you say 'differs', but tracing it raises ValueError (“inv", read=STOPS)
def stops_at_three_errors_only(function, batches):
    return told_by_its_class(function, batches, (TraceError, TypeError, RuntimeError))


@breaks("or returns something different from `function`;", case="`grams`")
@wrong("right_verdict", says="Of `grams` you say 'same', but the traced function returns", read=ISINSTANCE)
def never_compares(function, batches):
    return judged(function, batches, lambda found, expected: True)


@breaks("the batches are to hold what they held.", case="`doubled_in_place`")
@wrong("nothing_left", says="a tensor that your code was given holds other values")
def gives_the_function_the_batches_themselves(function, batches):
    """The verdict is right, and a function that writes into its batch has changed that of the caller."""
    try:
        traced = fx.symbolic_trace(function)
    except Exception:
        return "stops"
    for batch in batches:
        try:
            found = traced.forward(batch.clone())
            agree = pytree.tree_all(lambda same: same, leaves_agree(function(batch), found))
        except Exception:
            agree = False
        if not agree:
            return "differs"
    return "same"


@breaks("one item more or less:", case="`one_key_more`")
@wrong(
    "right_verdict", says="Of `one_key_more` you say 'same', but the function returns a dict with the", read=ISINSTANCE
)
def goes_through_the_keys_of_the_function(function, batches):
    def same(found, expected):
        if isinstance(expected, dict):
            return all(same(found[key], expected[key]) for key in expected)
        return close(found, expected)

    return judged(function, batches, same)


@breaks("Different numbers", case="`first_of_two`")
@wrong("right_verdict", says="Of `first_of_two` you say 'same', but the first of the two tensors", read=ISINSTANCE)
def compares_sums(function, batches):
    def same(one, other):
        return one.shape == other.shape and torch.allclose(one.double().sum(), other.double().sum())

    return judged(function, batches, lambda found, expected: leaf_by_leaf(found, expected, same))


@wrong(
    "ends well", says="For `precise`, the function returns float64, the traced one float32: your comparison was to tell"
)
def lets_the_comparison_raise(function, batches):
    try:
        traced = fx.symbolic_trace(function)
    except Exception:
        return "stops"
    for batch in batches:
        try:
            found = traced.forward(batch.clone())
        except Exception:
            return "differs"
        ours, theirs = (pytree.tree_flatten(value) for value in (found, function(batch.clone())))
        if ours[1] != theirs[1] or not all(map(torch.allclose, ours[0], theirs[0])):
            return "differs"
    return "same"
