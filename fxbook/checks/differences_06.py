"""In which respect two modules of "Tell a difference" differ: found out by running both, and what an answer says."""

from __future__ import annotations

import dataclasses

import torch
from torch import Tensor, fx, nn

from fxbook.asking.rule import Violation
from fxbook.asking.values import dict_items
from fxbook.asking.view import CaseView
from fxbook.checks.in_place_06 import IN_PLACE, behaviour


@dataclasses.dataclass(frozen=True)
class Truth:
    """How the second module differs, in words, ``None`` where it does not; the class of the error that it raises."""

    different: str | None
    raises: str | None = None


def truth_of(model: nn.Module, changed: fx.GraphModule, x: Tensor) -> Truth:
    """Run both on copies: results, what becomes of the input, and gradients, up to what rounding explains."""
    # Calling the module itself would print what fails in it.
    first, second = model.forward, changed.forward
    try:
        with torch.no_grad():
            second(x.clone())
    except Exception as error:
        return Truth("the second raises", type(error).__name__)
    wanted = behaviour(first, model, x)
    try:
        found = behaviour(second, model, x)
    except Exception as error:
        return Truth("the second raises when its gradient is computed", type(error).__name__)
    if wanted["result"].shape != found["result"].shape:
        return Truth("the result has another shape")
    if not _close(wanted["result"], found["result"]):
        turned = _same_rows(wanted["result"], found["result"])
        return Truth("the rows of the result are in another order" if turned else "the result is another one")
    if not _close(x, found["inputs"][0]):
        return Truth("the second overwrites the tensor that it is given")
    for name, gradient in wanted["gradients"].items():
        ours, theirs = _there(gradient, model, name, x), _there(found["gradients"][name], model, name, x)
        if _close(ours, theirs):
            continue
        if name in dict(model.named_parameters()):
            return Truth("a parameter has another gradient")
        how = "belong to other rows" if _same_rows(ours, theirs) else "differ"
        return Truth(f"the gradients with respect to the input {how}")
    return Truth(None)


def _there(gradient: Tensor | None, model: nn.Module, name: str, x: Tensor) -> Tensor:
    """A gradient; of what none reached, zeros."""
    return torch.zeros_like(dict(model.named_parameters()).get(name, x)) if gradient is None else gradient


def _close(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one, other, rtol=1e-4, atol=1e-5)


def _same_rows(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors hold the same numbers in each column, in whatever order."""
    return _close(one.sort(dim=0).values, other.sort(dim=0).values)


def told_apart(case: CaseView) -> Violation | None:
    """The answer is ``True`` where the changed module behaves otherwise, else ``False``; all is left as it was."""
    found = {key[1:-1]: value for key, value in dict_items(case.value).items()}
    on, truth = case.case.name, truth_of(*case.arguments)
    if found["let through"]:
        message = f"For {on} `changed` raises {truth.raises}, and so does your code: True was asked."
        return Violation(message, look=IN_PLACE)
    if not isinstance(found["said"], bool):
        return Violation("The answer is no bool: True or False was asked.")
    if found["graded"]:
        message = f"The parameter `{found['graded'][0]}` is left with a `.grad`, to which the next gradient is added."
        return Violation(message)
    if found["said"] != (truth.different is not None):
        if truth.different is None:
            return Violation(f"For {on} the answer is True, and the two behave in the same way.")
        return Violation(f"For {on} the answer is False, but {truth.different}.", look=IN_PLACE)
    if found["x"]:
        return Violation(f"`x` was to stay as it is, and {found['x']} afterwards.")
    return None
