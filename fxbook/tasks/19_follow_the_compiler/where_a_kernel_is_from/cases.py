"""Dicts like those that Inductor writes, with random numbers, and the name of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of

ADD, ADD_10, MUL = "cpp_fused_add_1", "cpp_fused_add_10", "cpp_fused_mul_silu_2"
OWN = f"my_{ADD}"  # A kernel that somebody wrote can have any name.
NODES = {
    "add": ["hidden"],
    "add_1": ["residual", "hidden"],
    "mul": ["gated"],
    "exp": ["silu"],
    "div": ["silu"],
    "full_default": None,
    "view_3": ["linear"],
}


def written(*kernels: tuple[str, tuple[str, ...]], look_up: str) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Make the arguments of the answer: dicts for these kernels, and the name of the kernel to look up.

    The names of nodes in Dynamo's graph end in a random number.
    """

    def given(_: nn.Module) -> tuple[Any, ...]:
        number = one_of(9, 35, 107)
        to_post = {f"{kernel}:{number + place}": list(nodes) for place, (kernel, nodes) in enumerate(kernels)}
        to_pre = {node: [f"{each}_{number}" for each in each_of] for node, each_of in NODES.items() if each_of}
        return {"cppCodeToPost": to_post, "postToPre": to_pre}, look_up

    return given


USAGE = Usage(
    "compute",
    cases=(
        Case("one call", nn.Identity, tuple, given=written((ADD, ("add", "view_3")), (MUL, ("mul",)), look_up=ADD)),
        Case(
            "several nodes from one node",
            nn.Identity,
            tuple,
            given=written((ADD, ("add",)), (MUL, ("mul", "exp", "div")), look_up=MUL),
        ),
        Case(
            "a kernel that is called twice",
            nn.Identity,
            tuple,
            unseen=True,
            given=written((ADD, ("view_3",)), (MUL, ("mul",)), (ADD, ("add_1",)), look_up=ADD),
        ),
        Case(
            "kernels with longer names",
            nn.Identity,
            tuple,
            unseen=True,
            given=written((ADD_10, ("exp",)), (OWN, ("mul",)), (ADD, ("add", "add_1")), look_up=ADD),
        ),
        Case(
            "a node that Inductor made", nn.Identity, tuple, True, written((MUL, ("full_default", "mul")), look_up=MUL)
        ),
    ),
)
