"""What the exercises of chapter 07 ask: signatures read and edited, values fed, checked and taken by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.asking.exercise import Case
from fxbook.asking.explained import (
    a_home_each,
    callers_input_stays,
    given_edited,
    output_last,
    own_weights_stay,
    tensor_free,
)
from fxbook.asking.predicates import edited, input_unchanged
from fxbook.checks.legacy import Exercise, compiled, has_reader, look, same_result_or, well_formed
from fxbook.checks.models_07 import (
    Asserting,
    Calibrated,
    Identity,
    InPlace,
    LateUnread,
    Listing,
    LogList,
    Logs,
    Model,
    NanWeight,
    Offset,
    Opposite,
    Partial,
    Private,
    Reserved,
    Returned,
    Starred,
    Unread,
    Weighting,
    mask_of,
    table,
)
from fxbook.checks.named_inputs_07 import no_interpreter, tells_what_is_wrong, used_by_name
from fxbook.checks.properties_07 import (
    constants_injected,
    in_state_dict,
    input_added_last,
    inputs_gone,
    names_required,
    nan_found,
    offset_added,
    parameters_kept,
    readers_get_the_value,
)

_EDIT = "07_placeholder#add-move-and-remove-inputs"


def with_offset(model: nn.Module, *inputs: Any) -> Any:
    """The model's result, and the value behind its own inputs added to it."""
    # By name, since one of them is keyword-only, which a graph forgets.
    given = dict(zip((*inspect.signature(model.forward).parameters, "offset"), inputs, strict=False))
    offset = given.pop("offset", 0.0)
    return model(**given) + offset


def with_stored(model: nn.Module, *inputs: Any) -> Any:
    """The model's result, with its stored inputs put among the others."""
    assert isinstance(model, Model)
    stored = model.stored()
    names = [name for name in inspect.signature(model.forward).parameters if name not in stored]
    return model(**dict(zip(names, inputs, strict=False)), **stored)


# ---- how the answers are used: the learner's half --------------------------------------------------------------------


def stored_in_turn(answer: Any, traced: fx.GraphModule, stored: dict[str, Tensor]) -> Any:
    """What the learner's function returns for the last of the inputs that are stored.

    A buffer that ``state_dict`` leaves out becomes a plain attribute: what is written down of a module does not tell
    one buffer from the other.
    """
    store = answer() if inspect.isclass(answer) else answer
    result = None
    for name, value in stored.items():
        result = store(traced, name, value)
    changed = result if isinstance(result, fx.GraphModule) else traced
    saved = changed.state_dict()
    for path, held in list(changed.named_buffers()):
        if path not in saved:
            owner, _, name = path.rpartition(".")
            delattr(changed.get_submodule(owner), name)
            setattr(changed.get_submodule(owner), name, held)
    return result


def used_twice(answer: Any, traced: fx.GraphModule, constants: dict[str, Any], values: tuple[Any, ...]) -> Any:
    """What the learner's interpreter returns for two runs in a row."""
    if said := no_interpreter(answer):
        return {"problem": said}
    runner = answer(traced, constants)
    with torch.no_grad():
        try:
            return {"first": runner.run(*values), "second": runner.run(*values)}
        except StopIteration:
            return {"stopped": True}


# ---- what the answers are given --------------------------------------------------------------------------------------


def _late(place: int) -> Callable[[nn.Module], tuple[fx.GraphModule]]:
    """The traced model; its input of that place stands behind the first step of the list."""

    def given(model: nn.Module) -> tuple[fx.GraphModule]:
        traced = fx.symbolic_trace(model)
        step = next(node for node in traced.graph.nodes if node.op not in ("placeholder", "output"))
        step.append(traced.graph.find_nodes(op="placeholder")[place])
        traced.recompile()
        return (traced,)

    return given


def _traced(model: nn.Module) -> tuple[fx.GraphModule]:
    return (fx.symbolic_trace(model),)


def _constants(constants: dict[str, Any], *values: Any) -> Callable[[nn.Module], tuple[Any, ...]]:
    return lambda model: (fx.symbolic_trace(model), constants, values)


def _run_on(*values: Any) -> Callable[[nn.Module], tuple[Any, ...]]:
    return lambda model: (fx.symbolic_trace(model), *values)


def uses_by_name(model: nn.Module) -> tuple[Any, ...]:
    """The traced model, examples, and the inputs of each use; what is wrong with them is for the answer to say."""
    assert isinstance(model, Model)
    return fx.symbolic_trace(model), model.examples(), [situation.values for situation in model.situations()]


def rows(*more: Callable[[], Any]) -> Callable[[], tuple[Any, ...]]:
    """Rows as the model of the chapter takes them, then what ``more`` makes."""
    return lambda: (torch.randn(5, 4), *(make() for make in more))


def _mask() -> Tensor:
    return mask_of(True, True, False, True, True)


def _column() -> Tensor:
    return torch.randn(5, 1)


_SIGNED = torch.tensor([[1.0, -1.0, 2.0, 3.0]])
_HOLED = torch.tensor([[1.0, torch.nan, 2.0, 3.0]] * 5)

EXERCISES = (
    Exercise(
        id="07-must-be-passed",
        use="compute",
        given=_traced,
        cases=(
            Case("the model of the chapter", Weighting, tuple),
            Case("starred parameters", Starred, tuple, unseen=True),
            Case("parameters with the names of builtins", Reserved, tuple, unseen=True),
            Case("parameters that begin with `_`", Private, tuple, unseen=True),
            Case("an input that stands behind a step", Unread, tuple, unseen=True, given=_late(1)),
        ),
        properties=(names_required, input_unchanged),
    ),
    Exercise(
        id="07-add-an-offset",
        use="edit",
        cases=(
            Case("the model of the chapter, without an offset", Weighting, rows(_mask)),
            Case("the model of the chapter, with an offset", Weighting, rows(_mask, float, lambda: None, lambda: 2.5)),
            Case("a model that returns its input", Identity, rows(lambda: -1.0), unseen=True),
            Case("a model with a layer called `offset`", Offset, rows(_column, lambda: 2.0), unseen=True),
            Case("a model that asserts something of its result", Asserting, rows(_column, lambda: 2.0), unseen=True),
            Case(
                "a model whose last input stands behind a step",
                LateUnread,
                rows(_column, lambda: None, lambda: 3.0),
                unseen=True,
                given=_late(-1),
            ),
        ),
        expected=with_offset,
        properties=(
            well_formed,
            look(_EDIT, input_added_last("offset", 0.0)),
            compiled,
            output_last,
            same_result_or(has_reader, parameters_kept, offset_added),
            callers_input_stays,
            has_reader,
            edited,
            given_edited,
        ),
    ),
    Exercise(
        id="07-store-an-input",
        use="edit",
        given=lambda model: (fx.symbolic_trace(model), model.stored()),  # type: ignore[operator]
        call=stored_in_turn,
        cases=(
            Case("the mask of the model of the chapter", Weighting, rows()),
            Case("an input called `input`", Reserved, lambda: (torch.arange(2), torch.randn(5, 1)), unseen=True),
            Case("an input with the name of a buffer, returned and in a list", Returned, rows(), unseen=True),
            Case("an input that is never read", Unread, rows(_column), unseen=True),
            Case("two inputs, one after the other", Calibrated, rows(), unseen=True),
        ),
        expected=with_stored,
        properties=(
            well_formed,
            tensor_free,
            look(_EDIT, inputs_gone),
            compiled,
            output_last,
            look(_EDIT, in_state_dict),
            same_result_or(own_weights_stay, a_home_each, readers_get_the_value, has_reader),
            edited,
            given_edited,
        ),
    ),
    Exercise(
        id="07-inject-constants",
        use="compute",
        given=_constants({"rows": "rows"}, "mask", "sharpness"),
        call=used_twice,
        cases=(
            Case("a model that returns its inputs", Listing, tuple),
            Case("its second input", Listing, tuple, given=_constants({"mask": "mask"}, "rows")),
            Case("the model of the chapter", Weighting, tuple, given=_constants({"mask": _mask()}, table())),
            Case("two inputs of four", Listing, tuple, True, _constants({"rows": 1, "input": 4}, 2, 3)),
            Case("an input that has a default", Listing, tuple, True, _constants({"sharpness": 3}, 1, 2)),
            Case("an input behind one that is left out", Listing, tuple, True, _constants({"input": 4}, 1, 2)),
            Case("the constant None", Listing, tuple, True, _constants({"sharpness": None, "mask": 2}, 1, 4)),
        ),
        properties=(constants_injected, input_unchanged),
    ),
    Exercise(
        id="07-where-nan-begins",
        use="compute",
        given=_run_on(table(), mask_of(*[False] * 5)),
        cases=(
            Case("a mask that keeps no row", Weighting, tuple),
            Case("a mask that keeps some rows", Weighting, tuple, given=_run_on(table(), _mask())),
            Case("nan in an input", Weighting, tuple, True, _run_on(_HOLED, _mask())),
            Case("nan in one of two results of a node", Logs, tuple, True, _run_on(_SIGNED)),
            Case("no nan, and a node with two results", Logs, tuple, True, _run_on(_SIGNED.abs(), 3)),
            Case("nan in a list", LogList, tuple, True, _run_on(_SIGNED)),
            Case("a step that works in place", InPlace, tuple, True, _run_on(_SIGNED * 2)),
            Case("nan in a parameter", NanWeight, tuple, True, _run_on(_SIGNED)),
            Case("infinities of both signs, and no nan", Opposite, tuple, True, _run_on(_SIGNED)),
        ),
        properties=(nan_found, input_unchanged),
    ),
    Exercise(
        id="07-inputs-by-name",
        use="compute",
        given=uses_by_name,
        call=used_by_name,
        cases=(
            Case("the model of the chapter", Weighting, tuple),
            Case("parameters with the names of builtins, one unread", Reserved, tuple, unseen=True),
            Case("examples for inputs with defaults, none for one without", Partial, tuple, unseen=True),
        ),
        properties=(tells_what_is_wrong,),
    ),
)
