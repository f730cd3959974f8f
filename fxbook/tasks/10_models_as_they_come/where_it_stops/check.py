"""Find the module that stops the trace."""

from __future__ import annotations

from typing import Any

from torch import fx, nn

from fxbook.cases import Check
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


class _Watching(fx.Tracer):
    """Records, for each error, the module whose ``forward`` raised it; a leaf's ``forward`` is not run."""

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
        """The name of the module in which this error object was raised; ``None`` if it was not in a module."""
        return next((name for other, name in self.raised if other is error), None)


def stops_in(model: nn.Module) -> tuple[str | None, set[str]]:
    """Where the trace stops (``None``: nowhere), and the names of all modules inside in which an error was raised."""
    tracer = _Watching()
    try:
        tracer.trace(model)
    except Exception as error:
        return tracer.stopped_in(error) or "", {name for _, name in tracer.raised}
    return None, {name for _, name in tracer.raised}


@rule
def the_module(case: CaseView) -> Found:
    """The answer is the qualified name of the module in which the trace stops."""
    (wanted, raised), answer = stops_in(case.model), case.value
    modules = dict(case.model.named_modules(remove_duplicate=False))
    if answer is None and wanted is not None:
        where = f"in `{wanted}`" if wanted else "in the model itself"
        yield None, f"You return None, but the trace stops {where}."
    elif answer is not None and not isinstance(answer, str):
        yield None, "You return neither a string nor None."
    elif wanted is None and answer is not None:
        caught = " The model caught each error." if raised else ""
        yield None, f"The trace of this model succeeds, but you return a name.{caught}"
    elif answer is not None and answer not in modules:
        yield None, "You return a string that is not the qualified name of a module of the model."
    elif answer is not None and modules[answer] is not modules[wanted]:
        yield None, _not_there(answer, wanted, raised, modules)


def _not_there(answer: str, wanted: str, raised: set[str], modules: dict[str, nn.Module]) -> str:
    """Why a module is not the one in which the trace stops."""
    who = f"`{answer}`" if answer else "the model itself"
    if fx.Tracer().is_leaf_module(modules[answer], answer):
        return f"You return {who}, which is a leaf: its `forward` does not run."
    if answer in raised:
        return f"You return {who}. The model caught the error that was raised there: another error stops the trace."
    if wanted == "":
        return f"You return {who}, but the trace stops in the `forward` of the model itself."
    if answer == "" or wanted.startswith(f"{answer}."):
        return f"You return {who}, but the error was raised in a module inside it."
    return f"You return {who}, whose `forward` does not run when the error that stops the trace is raised."


CHECK = Check((the_module, input_unchanged))
