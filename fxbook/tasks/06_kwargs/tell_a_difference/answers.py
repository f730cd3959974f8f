"""Answers to 06-tell-a-difference."""

import copy

import torch

from fxbook.tasks.answering import breaks, right, wrong


def behaviour(module, model, x):
    """What the module returns, its input afterwards, and all gradients."""
    given = x.clone()
    with torch.no_grad():
        result = module(given).clone()
    leaf = x.clone().requires_grad_()
    total = module(leaf * 1).sum()
    return [result, given, *torch.autograd.grad(total, [leaf, *model.parameters()], materialize_grads=True)]


def close(one, other):
    return one.shape == other.shape and torch.allclose(one, other, atol=1e-5)


def differ(model, changed, x, observe=behaviour, same=close):
    expected = observe(model, model, x)
    try:
        found = observe(changed, model, x)
    except Exception:
        return True
    return not all(same(one, other) for one, other in zip(expected, found, strict=True))


@right
def zeroes_between_two_backwards(model, changed, x):
    """Returns a tensor, which holds a bool."""

    def run(module):
        model.zero_grad()
        leaf = x.clone().requires_grad_()
        given = leaf + 0
        result = module(given)
        seen = result.detach().clone()
        result.sum().backward()
        zeros = [torch.zeros_like(weight) for weight in model.parameters()]
        graded = [zero if w.grad is None else w.grad for zero, w in zip(zeros, model.parameters(), strict=True)]
        return [seen, given.detach(), leaf.grad, *graded]

    wanted = [value.clone() for value in run(model)]
    try:
        found = run(changed)
        if found[0].shape != wanted[0].shape:
            return True
        return torch.stack([(one - other).abs().max() for one, other in zip(found, wanted, strict=True)]).max() > 1e-4
    except Exception:
        return True
    finally:
        model.zero_grad()


@right
def compares_with_assert_close(model, changed, x):
    wanted = behaviour(model, model, x)
    try:
        torch.testing.assert_close(behaviour(changed, model, x), wanted, rtol=1e-4, atol=1e-5)
    except Exception:
        return True
    return False


@right
class TakesTheJacobianProduct:
    """Gets all gradients from torch.autograd.functional."""

    def __call__(self, model, changed, x):
        weights = dict(model.named_parameters())

        def run(module):
            given = x.clone()
            seen = module(given).detach().clone()

            def total(leaf, *values):
                swapped = dict(zip(weights, values, strict=True))
                return torch.func.functional_call(module, swapped, (leaf * 1,)).sum()

            found = torch.autograd.functional.vjp(total, (x.clone(), *(w.detach() for w in weights.values())))
            return [seen, given, *found[1]]

        wanted = run(model)
        try:
            return not all(map(close, wanted, run(changed)))
        except Exception:
            return True


@right
def computes_one_gradient_at_a_time(model, changed, x):
    def observe(module, model, x):
        given = x.clone()
        with torch.inference_mode():
            result = module(given)
            seen = [result.clone(), given.clone()]
        gradients = []
        for source in (None, *model.parameters()):
            leaf = x.clone().requires_grad_()
            total = module(leaf.view_as(leaf) + 0).sum()
            wanted = leaf if source is None else source
            (gradient,) = torch.autograd.grad(total, wanted, allow_unused=True)
            gradients.append(torch.zeros_like(wanted) if gradient is None else gradient)
        return seen + gradients

    return differ(model, changed, x, observe)


@breaks("the tensor that the module was given, after the call;", case="`relu` in place on the input")
@wrong("right_verdict", says="For `relu` in place on the input, your function returns False, but `changed` overwrites")
def compares_results_only(model, changed, x):
    try:
        return not torch.allclose(model(x.clone()), changed(x.clone()))
    except Exception:
        return True


@breaks("Leave the parameters without a `.grad`, as you found them.", case="a model and its trace")
@wrong("right_verdict", says="The parameter `project.weight` still has a `.grad`")
def adds_up_the_gradients(model, changed, x):
    def run(module):
        leaf = x.clone().requires_grad_()
        given = leaf * 1
        result = module(given)
        result.sum().backward()
        graded = [weight.grad.clone() for weight in model.parameters() if weight.grad is not None]
        return [result.detach(), given.detach(), leaf.grad, *graded]

    try:
        return not all(torch.allclose(a, b, atol=1e-5) for a, b in zip(run(model), run(changed), strict=False))
    except Exception:
        return True


@breaks("or to a parameter.", case="a parameter that was detached")
@wrong("right_verdict", says="your function returns False, but the gradient with respect to a parameter differs")
def forgets_the_parameters(model, changed, x):
    return differ(model, changed, x, lambda module, model, x: behaviour(module, model, x)[:3])


@breaks("by more than rounding error (`torch.allclose` with `atol=1e-5`):", case="`celu` in place where it is safe")
@wrong("right_verdict", says="For `celu` in place where it is safe, your function returns True, but both")
def treats_rounding_as_a_difference(model, changed, x):
    return differ(model, changed, x, same=torch.equal)


@breaks("the result;", case="a result whose rows are reversed")
@wrong("right_verdict", says="whose rows are reversed, your function returns False, but the rows of the result are in")
def compares_the_sums_of_the_results(model, changed, x):
    def observe(module, model, x):
        result, *others = behaviour(module, model, x)
        return [result.sum(), *others]

    return differ(model, changed, x, observe)


@breaks("Two results of different shapes differ.", case="a result with one more dimension")
@wrong("right_verdict", says="your function returns False, but the result has a different shape")
def subtracts_what_may_be_broadcast(model, changed, x):
    return differ(model, changed, x, same=lambda one, other: bool((one - other).abs().max() < 1e-4))


@breaks("A missing gradient counts as zero", case="a parameter multiplied by 0, then removed")
@wrong("right_verdict", says="your function returns True, but both modules behave the same")
def treats_a_missing_gradient_as_a_difference(model, changed, x):
    def observe(module, model, x):
        leaf = x.clone().requires_grad_()
        given = leaf * 1
        result = module(given).clone()
        return [result, given, *torch.autograd.grad(result.sum(), [leaf, *model.parameters()], allow_unused=True)]

    def same(one, other):
        return one is other if one is None or other is None else close(one, other)

    return differ(model, changed, x, observe, same)


@breaks("if `changed` raises an error anywhere.", case="a softmax over a dimension that does not exist")
@wrong("right_verdict", says="that does not exist, `changed` raises IndexError, and so does your code")
def catches_only_runtime_errors(model, changed, x):
    expected = behaviour(model, model, x)
    try:
        found = behaviour(changed, model, x)
    except RuntimeError:
        return True
    return not all(map(close, expected, found))


@breaks("Do not change `x`", case="a model and its trace")
@wrong("right_verdict", says="Your code changes `x`: afterwards it requires a gradient.")
def makes_the_given_tensor_a_leaf(model, changed, x):
    def observe(module, model, x):
        given = x.detach().clone()
        with torch.no_grad():
            result = module(given).clone()
        total = module(x.requires_grad_() * 1).sum()
        return [result, given, *torch.autograd.grad(total, [x, *model.parameters()], materialize_grads=True)]

    return differ(model, changed, x, observe)


@breaks("or the two modules.", case="a model and its trace")
@wrong("input_unchanged", says="The model that was given has been changed: ")
def switches_to_eval(model, changed, x):
    return differ(model.eval(), changed.eval(), x)


@breaks(
    "by more than rounding error (`torch.allclose` with `atol=1e-5`):",
    case="a result that is too large by a thousandth",
)
@wrong("right_verdict", says="your function returns False, but the result has different numbers")
def allows_too_large_a_tolerance(model, changed, x):
    return differ(
        model, changed, x, same=lambda one, other: one.shape == other.shape and torch.allclose(one, other, atol=0.02)
    )


@breaks("they behave differently on `x`", case="a model in training mode and its trace")
@wrong("right_verdict", says="in training mode and its trace, your function returns True, but both modules behave the")
def compares_copies_in_eval_mode(model, changed, x):
    return differ(*(module.eval() for module in copy.deepcopy((model, changed))), x)
