"""Tell a difference: run both modules to find out in which respect they differ."""

from __future__ import annotations

import dataclasses

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Check
from fxbook.cases.values import dict_items
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.returned import bool_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..cases import behaviour


@dataclasses.dataclass(frozen=True)
class Truth:
    """How the changed module differs, in words, or ``None``; and the class of the error that it raises, if any."""

    different: str | None
    raises: str | None = None


def truth_of(model: nn.Module, changed: fx.GraphModule, x: Tensor) -> Truth:
    """Run both modules on copies of ``x``; compare results, inputs afterwards and gradients, up to rounding."""
    # Calling a GraphModule itself would print the errors raised inside it.
    first, second = model.forward, changed.forward
    try:
        with torch.no_grad():
            second(x.clone())
    except Exception as error:
        return Truth("`changed` raises", type(error).__name__)
    expected = behaviour(first, model, x)
    try:
        observed = behaviour(second, model, x)
    except Exception as error:
        return Truth("`changed` raises when its gradient is computed", type(error).__name__)
    if expected["result"].shape != observed["result"].shape:
        return Truth("the result has a different shape")
    if not _close(expected["result"], observed["result"]):
        is_reordered = _same_rows(expected["result"], observed["result"])
        return Truth(
            "the rows of the result are in a different order" if is_reordered else "the result has different numbers"
        )
    if not _close(expected["inputs"][0], observed["inputs"][0]):
        return Truth("`changed` overwrites the tensor that it is given")
    return Truth(_other_gradient(model, expected["gradients"], observed["gradients"], x))


def _other_gradient(
    model: nn.Module, expected: dict[str, Tensor | None], observed: dict[str, Tensor | None], x: Tensor
) -> str | None:
    """How the first differing gradient differs, in words; a missing gradient counts as zero."""
    weights = dict(model.named_parameters())
    for name in expected:
        zeros = torch.zeros_like(weights.get(name, x))
        ours, theirs = (zeros if gradient is None else gradient for gradient in (expected[name], observed[name]))
        if _close(ours, theirs):
            continue
        if name in weights:
            return "the gradient with respect to a parameter differs"
        how = "belong to different rows" if _same_rows(ours, theirs) else "differ"
        return f"the gradients with respect to the input {how}"
    return None


def _close(first: Tensor, second: Tensor) -> bool:
    return torch.allclose(first, second, rtol=1e-4, atol=1e-5)


def _same_rows(first: Tensor, second: Tensor) -> bool:
    """Whether each column of two tensors holds the same numbers, in any order."""
    return _close(first.sort(dim=0).values, second.sort(dim=0).values)


@rule
def right_verdict(case: CaseView) -> Found:
    """The answer is ``True`` if the changed module behaves differently, else ``False``; the arguments are as before."""
    observation = {key[1:-1]: value for key, value in dict_items(case.value).items()}
    verdict, pair, truth = bool_of(observation["verdict"]), case.case.name, truth_of(*case.arguments)
    if observation["let through"]:
        yield None, f"For {pair}, `changed` raises {truth.raises}, and so does your code: it should return True."
    if verdict is None:
        yield None, "The answer is not a bool: return True or False."
    for name in observation["graded"]:
        yield None, f"The parameter `{name}` still has a `.grad`, to which `backward` would add the next gradient."
    if verdict and truth.different is None:
        yield None, f"For {pair}, your function returns True, but both modules behave the same."
    if not verdict and truth.different:
        yield None, f"For {pair}, your function returns False, but {truth.different}."
    if observation["change of x"]:
        yield None, f"Your code changes `x`: afterwards it {observation['change of x']}."


CHECK = Check((right_verdict, input_unchanged))
