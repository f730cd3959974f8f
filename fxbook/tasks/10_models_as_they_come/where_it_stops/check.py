"""Find the module that stops the trace."""

from __future__ import annotations

from typing import Any

from torch import fx, nn

from fxbook.asking import Check
from fxbook.asking.predicates import input_unchanged
from fxbook.asking.rule import Found, rule
from fxbook.asking.view import CaseView


class _Watching(fx.Tracer):
    """Notes on each error the module in which it was raised."""

    def call_module(self, m: nn.Module, forward: Any, args: Any, kwargs: Any) -> Any:
        try:
            return super().call_module(m, forward, args, kwargs)
        except Exception as error:
            if not hasattr(error, "stopped_in"):
                error.stopped_in = self.path_of_module(m)
            raise


def stops_in(model: nn.Module) -> str | None:
    """The innermost module that was running when the trace stopped, ``""`` for the model, ``None`` where it did not."""
    try:
        _Watching().trace(model)
    except Exception as error:
        return getattr(error, "stopped_in", "")
    return None


@rule
def the_module(case: CaseView) -> Found:
    """The answer is the qualified name of the module in which the trace stops."""
    wanted, answer = stops_in(case.model), case.value
    if answer == wanted:
        return
    if answer is None:
        where = f"in `{wanted}`" if wanted else "in the model itself"
        yield None, f"None was returned, but the trace stops {where}."
    if not isinstance(answer, str):
        yield None, "The answer is neither a string nor None."
        return
    if wanted is None:
        yield None, "The trace of this model succeeds, so None was asked."
    names = dict(case.model.named_modules())
    if answer not in names:
        yield None, "The answer is not the qualified name of a module of the model."
    if wanted == "":
        yield None, "The trace stops in `forward` of the model itself, so the empty name was asked."
    if answer == "" or wanted.startswith(f"{answer}."):
        who = f"`{answer}`" if answer else "the model itself"
        yield None, f"You return {who}, in which another module is running when the trace stops."
    yield None, "When the trace stops, the module that you return is not running."


CHECK = Check((the_module, input_unchanged))
