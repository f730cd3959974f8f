"""Count the FLOPs of each outermost submodule."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from fxbook.asking import Check
from fxbook.asking.exercise import model_of
from fxbook.asking.returned import number_of, table_of
from fxbook.asking.rule import Found, rule
from fxbook.asking.view import CaseView

from ..check import one_thread


@one_thread()
def flops_by_outermost(model: nn.Module, *inputs: Any) -> dict[str, int]:
    """FLOPs by path of the outermost submodule, counted while the model itself runs; ``""`` for the model's own."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(*inputs)
    counts = {path: sum(by_operation.values()) for path, by_operation in counter.get_flop_counts().items()}
    outermost = {path.split(".")[1]: count for path, count in counts.items() if path.count(".") == 1}
    outermost[""] = counts.get("Global", 0) - sum(outermost.values())
    return {path: count for path, count in outermost.items() if count}


@rule
def each_module_its_flops(case: CaseView) -> Found:
    """The FLOPs of each outermost submodule; those that have none may be left out."""
    table = table_of(case.value)
    counted = {path: number for path, item in (table or {}).items() if (number := number_of(item)) is not None}
    if table is None or len(counted) != len(table):
        yield None, "A dict was asked that gives for the path of each outermost submodule a number of FLOPs."
        return
    model = model_of(case.case, case.seed)
    known = {"", *(name for name, _ in model.named_children())}
    for path in table:
        if path not in known:
            yield None, f"`{path}` is not the path of an outermost submodule of the model."
    asked = flops_by_outermost(model, *case.arguments[1:])
    for path in (*asked, *counted):
        flops, right = counted.get(path, 0), asked.get(path, 0)
        where = f"`{path}`" if path else 'The root itself (`""`)'
        if flops == 0 and right:
            yield None, f"{where} has no FLOPs in the answer: products are made there."
        if flops != right:
            yield None, f"{where} has {'more' if flops > right else 'fewer'} FLOPs in the answer than are done there."


CHECK = Check((each_module_its_flops,))
