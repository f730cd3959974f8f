"""What the exercises of chapter 05 ask: to trace what cannot be traced as it is, and to know when a trace is wrong."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any

import torch

# What torch imports for its other front ends: most of the time that an answer has.
import torch._dynamo
from torch import Tensor, fx, nn
from torch.fx.proxy import TraceError

from fxbook.asking.exercise import Case
from fxbook.asking.predicates import input_unchanged, runs, same_result, shares_weights
from fxbook.checks.legacy import Exercise, compiled, has_reader, same_result_or, well_formed
from fxbook.checks.models_05 import (
    Centred,
    Classifier,
    Doubling,
    Fixable,
    Masked,
    Nested,
    Pooled,
    Sharpened,
    Tower,
    Whole,
)
from fxbook.checks.properties_05 import (
    argument_gone,
    batch_left_alone,
    batch_left_alone_untraced,
    decides_once,
    gradients_kept,
    kept_whole,
    nothing_fixed,
    one_own_call,
    open_to_passes,
    rest_untouched,
    right_on_every_batch,
    right_verdict,
    traced_symbolically,
)
from fxbook.checks.suspects_05 import SUSPECTS


def spread(size: float, rows: int = 64) -> Callable[[], tuple[Tensor, ...]]:
    """A batch whose scores have about this spread: the smaller, the more rounds the classifier takes."""
    return lambda: (size * torch.randn(rows, 4),)


def fixable(name: str, build: type[Fixable], inputs: int, unseen: bool = False) -> Case:
    return Case(name, build, lambda: tuple(torch.randn(3, 4) for _ in range(inputs)), unseen=unseen)


def whole(name: str, build: type[Whole], unseen: bool = False) -> Case:
    return Case(name, build, lambda: (torch.randn(5, 4),), unseen=unseen)


# ---- all that calling does: the result, the batch afterwards, the gradients ------------------------------------------


def behaviour(call: Callable[..., Any], model: nn.Module, x: Tensor) -> dict[str, Any]:
    """What calling returns, what it does to its batch, and the gradients of the batch and of the model's weights.

    Args:
        call: ``model`` itself, or a module that shares its parameters.
        model: whose parameters the gradients are taken of.
        x: left as it is.
    """
    weights = dict(model.named_parameters())
    with torch.enable_grad():
        leaf = x.clone().requires_grad_()
        # What is passed is no leaf, so that working in place on it is told by its value, and not by an error.
        batch = leaf + 0
        result = call(batch)
        found: tuple[Tensor | None, ...] = (None,) * (1 + len(weights))
        if isinstance(result, Tensor) and result.requires_grad:
            # A different weight for every element: no two gradients may cancel.
            loss = (result * torch.linspace(1.0, 2.0, result.numel()).view_as(result)).sum()
            found = torch.autograd.grad(loss, [leaf, *weights.values()], allow_unused=True)
    return {"result": result, "batch": batch, "gradients": dict(zip(["x", *weights], found, strict=True))}


def expected_behaviour(model: nn.Module, x: Tensor) -> dict[str, Any]:
    return behaviour(model, model, x)


def watched(result: Any, model: nn.Module) -> Any:
    """The result of an answer; where it is a module of a graph, running it tells all that it does."""
    if type(result).__name__ == "PassResult":
        result = result.graph_module
    if isinstance(result, fx.GraphModule):
        forward = result.forward

        # Wrapped, so that what forward was compiled from is still found.
        @functools.wraps(forward)
        def told(x: Tensor) -> dict[str, Any]:
            return behaviour(forward, model, x)

        result.forward = told
    return result


def traced_and_watched(answer: Any) -> Any:
    """What tracing the answer gives; running it tells also what the answer itself does to its batch."""
    result = watched(fx.symbolic_trace(answer), nn.Module())
    traced = result.forward

    @functools.wraps(traced)
    def told(x: Tensor) -> dict[str, Any]:
        own = x.clone()
        answer(own)
        return {**traced(x), "batch of the answer itself": own}

    result.forward = told
    return result


def expected_of_both(model: nn.Module, x: Tensor) -> dict[str, Any]:
    return {**expected_behaviour(model, x), "batch of the answer itself": x}


def made_and_watched(answer: Callable[..., Any], model: nn.Module) -> Any:
    return watched((answer() if isinstance(answer, type) else answer)(model), model)


def keep(answer: Callable[..., Any], model: nn.Module, kind: type[nn.Module]) -> Any:
    """What the answer returns; an error from inside a module that was to be kept whole says so.

    Raises:
        TraceError: tracing has entered such a module, and could not go on.
    """
    try:
        return (answer() if isinstance(answer, type) else answer)(model, kind)
    except Exception as error:
        entered = _entered(error.__traceback__, kind)
        if entered is None:
            raise
        path = next(path for path, module in model.named_modules() if module is entered)
        message = f"tracing goes into `{path}`, which is of the class passed as `kind`: it was to stay whole ({error})"
        raise TraceError(message).with_traceback(error.__traceback__) from None


def _entered(traceback: TracebackType | None, kind: type[nn.Module]) -> nn.Module | None:
    """The module of this kind in whose forward the error was raised."""
    while traceback is not None:
        frame = traceback.tb_frame
        module = frame.f_locals.get("self")
        if frame.f_code.co_name == "forward" and isinstance(module, kind):
            return module
        traceback = traceback.tb_next
    return None


_FOUR_BATCHES = (
    Case("a batch that is sure at once", Classifier, spread(3.0)),
    Case("a batch that needs a few rounds", Classifier, spread(0.3)),
    Case("a batch that is never sure", Classifier, spread(0.01)),
    Case("a wider model, a few rounds", lambda: Classifier(32), spread(0.4, rows=48), unseen=True),
)

EXERCISES = (
    Exercise(
        id="05-choose-without-if",
        use="build",
        call=traced_and_watched,
        cases=(
            Case("a batch with a positive mean", Centred, lambda: (torch.randn(8, 8) + 0.8,)),
            Case("a batch with a negative mean", Centred, lambda: (torch.randn(8, 8) - 0.8,)),
            Case("a batch of float64", Centred, lambda: (torch.randn(4, 4, dtype=torch.float64) + 1,)),
            Case("a tensor of three dimensions", Centred, lambda: (torch.randn(2, 6, 3) + 1,)),
        ),
        expected=expected_of_both,
        returns=("GraphModule",),
        properties=(
            well_formed,
            same_result_or(
                runs, decides_once, right_on_every_batch, batch_left_alone, batch_left_alone_untraced, gradients_kept
            ),
            open_to_passes,
            has_reader,
        ),
    ),
    Exercise(
        id="05-loud-or-silent",
        use="compute",
        given=lambda model: (model.function, [batch.clone() for batch in model.batches]),
        cases=SUSPECTS,
        properties=(right_verdict,),
    ),
    Exercise(
        id="05-fix-the-argument",
        use="pass",
        given=lambda model: (model, model.name, model.value),
        cases=(
            fixable("the classifier, two rounds", Classifier, 1),
            fixable("a mask fixed at None", Masked, 2, unseen=True),
            fixable("a mode fixed by its name", Pooled, 2, unseen=True),
            fixable("a flag, beside an input that is not read", Doubling, 1, unseen=True),
        ),
        expected=lambda model, *inputs: model.asked(*inputs),
        properties=(
            well_formed,
            compiled,
            argument_gone,
            rest_untouched,
            same_result,
            has_reader,
            input_unchanged,
            shares_weights,
        ),
    ),
    Exercise(
        id="05-wrap-the-loop",
        use="pass",
        call=made_and_watched,
        cases=_FOUR_BATCHES,
        expected=expected_behaviour,
        properties=(
            well_formed,
            compiled,
            nothing_fixed,
            same_result_or(runs, right_on_every_batch, batch_left_alone, shares_weights, gradients_kept),
            one_own_call,
            has_reader,
            input_unchanged,
            shares_weights,
        ),
    ),
    Exercise(
        id="05-keep-a-module-whole",
        use="pass",
        given=lambda model: (model, model.kind),
        call=keep,
        cases=(
            whole("the classifier", Sharpened),
            whole("the kind nested, as a subclass, and called twice", Nested, unseen=True),
            whole("containers of torch", Tower, unseen=True),
        ),
        properties=(
            well_formed,
            compiled,
            nothing_fixed,
            kept_whole,
            same_result,
            has_reader,
            input_unchanged,
            shares_weights,
        ),
    ),
    Exercise(
        id="05-unroll-the-loop",
        use="pass",
        call=made_and_watched,
        cases=_FOUR_BATCHES,
        expected=expected_behaviour,
        properties=(
            well_formed,
            compiled,
            nothing_fixed,
            traced_symbolically,
            same_result_or(
                runs, open_to_passes, right_on_every_batch, batch_left_alone, shares_weights, gradients_kept
            ),
            open_to_passes,
            has_reader,
            input_unchanged,
            shares_weights,
        ),
    ),
)
