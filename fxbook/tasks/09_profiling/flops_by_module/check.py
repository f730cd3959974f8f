"""Count the FLOPs of each outermost submodule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from fxbook.cases import Check
from fxbook.cases.exercise import model_of
from fxbook.cases.running import one_thread
from fxbook.rules.returned import number_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


@one_thread()
def flops_by_outermost(model: nn.Module, *inputs: Any) -> dict[str, int]:
    """FLOPs by outermost submodule, counted with hooks: the counter lists the model's own FLOPs under its class."""
    counts: Counter[str] = Counter()
    inside: list[int] = []

    def enter(module: nn.Module, given: Any) -> None:
        inside.append(counter.get_total_flops())

    def leave(child: str) -> Callable[..., None]:
        def left(module: nn.Module, given: Any, result: Any) -> None:
            before = inside.pop()
            if not inside:
                counts[child] += counter.get_total_flops() - before

        return left

    for path, module in model.named_modules():
        if path:
            module.register_forward_pre_hook(enter)
            module.register_forward_hook(leave(path.partition(".")[0]))
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(*inputs)
    counts[""] = counter.get_total_flops() - counts.total()
    return {path: count for path, count in counts.items() if count}


@rule
def each_module_its_flops(case: CaseView) -> Found:
    """The FLOPs of each outermost submodule; those that have none may be left out."""
    table = table_of(case.value)
    counted = {path: number for path, item in (table or {}).items() if (number := number_of(item)) is not None}
    if table is None or len(counted) != len(table):
        yield None, "The task asks for a dict that maps the name of each outermost submodule to a number of FLOPs."
        return
    model = model_of(case.case, case.seed)
    known = {"", *(name for name, _ in model.named_children())}
    for path in table:
        if path not in known:
            yield None, f"`{path}` is not the name of an outermost submodule of the model."
    asked = flops_by_outermost(model, *case.arguments[1:])
    halved = all(2 * counted.get(path, 0) == right for path, right in asked.items())
    only_root = len(asked) > 1 and counted.get("") == sum(asked.values()) == sum(counted.values())
    for path in (*asked, *counted):
        flops, right = counted.get(path, 0), asked.get(path, 0)
        where = f"`{path}`" if path else 'The root (`""`) itself'
        if flops == 0 and right:
            why = ': it counts all FLOPs under the root, `""`.' if only_root else "."
            yield None, f"{where} does {right:,} FLOPs; your answer has none for it{why}"
        if flops != right:
            counted_so = " A multiplication with its addition counts as 2." if halved else ""
            yield None, f"{where} does {right:,} FLOPs; your answer is {flops:,.10g}.{counted_so}"


CHECK = Check((each_module_its_flops,))
