"""Find the module in which a trace stops."""

from __future__ import annotations

from typing import Any

from torch import fx, nn

from fxbook.cases import Check
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


class _Watching(fx.Tracer):
    """Records for each error the module whose ``forward`` raised it; the ``forward`` of a leaf does not run."""

    def __init__(self) -> None:
        super().__init__()
        self.raised: list[tuple[Exception, str]] = []

    def call_module(self, m: nn.Module, forward: Any, args: Any, kwargs: Any) -> Any:
        def watched(*args: Any, **kwargs: Any) -> Any:
            try:
                return forward(*args, **kwargs)
            except Exception as error:
                if self.stopped_in(error) is None:
                    self.raised.append((error, self.path_of_module(m)))
                raise

        return super().call_module(m, watched, args, kwargs)

    def stopped_in(self, error: Exception) -> str | None:
        """The name of the submodule in which this error was first raised, or ``None`` if it was not in a submodule."""
        return next((name for other, name in self.raised if other is error), None)


def stops_in(model: nn.Module) -> tuple[str | None, set[str]]:
    """The name of the module in which the trace stops, or ``None``; and the names of all submodules that raised."""
    tracer = _Watching()
    try:
        tracer.trace(model)
    except Exception as error:
        return tracer.stopped_in(error) or "", {name for _, name in tracer.raised}
    return None, {name for _, name in tracer.raised}


@rule
def the_module(case: CaseView) -> Found:
    """The answer is the qualified name of the module in which the trace stops."""
    (stop, raised), answer = stops_in(case.model), case.value
    modules = dict(case.model.named_modules(remove_duplicate=False))
    if answer is None and stop is not None:
        where = f"in `{stop}`" if stop else "in the model itself"
        yield None, f"You return None, but the trace stops {where}."
    elif answer is not None and not isinstance(answer, str):
        yield None, "You return neither a string nor None."
    elif stop is None and answer is not None:
        caught = " The model catches every error." if raised else ""
        yield None, f"You return a name, but the trace of this model succeeds.{caught}"
    elif answer is not None and answer not in modules:
        yield None, "You return a string that is not the qualified name of a module in the model."
    elif answer is not None and modules[answer] is not modules[stop]:
        yield None, _not_there(answer, stop, raised, modules)


def _not_there(answer: str, stop: str, raised: set[str], modules: dict[str, nn.Module]) -> str:
    """Why the trace does not stop in this module."""
    who = f"`{answer}`" if answer else "the model itself"
    if fx.Tracer().is_leaf_module(modules[answer], answer):
        return f"You return {who}, which is a leaf: its `forward` does not run."
    if answer in raised:
        return f"You return {who}, but the model catches the error from there: another error stops the trace."
    if stop == "":
        return f"You return {who}, but the trace stops in the `forward` of the model itself."
    if answer == "" or stop.startswith(f"{answer}."):
        return f"You return {who}, but the error was raised in a module inside it."
    return f"You return {who}, whose `forward` is not running when the error that stops the trace is raised."


CHECK = Check((the_module, input_unchanged))
