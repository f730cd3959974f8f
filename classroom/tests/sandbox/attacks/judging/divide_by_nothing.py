"""Divide whole numbers by zero, and the smallest by -1, in every way.

Harm: the processor stops the judge.
"""

import torch
from classroom.tests.sandbox.forging import call, computing, ref

WAYS = ("div", "floor_divide", "remainder", "fmod", "true_divide", "pow", "float_power", "bitwise_and", "reciprocal")


def forged(observation):
    for kind in (torch.int8, torch.int64, torch.uint8, torch.bool):
        least = call("torch.full", [3], -(2**7) if kind is torch.int8 else 1, dtype=kind)
        for by in (0, -1):
            other = call("torch.full", [3], by, dtype=kind)
            for name in WAYS:
                yield computing(observation, least, other, call(f"torch.{name}", ref(1), ref(2)))
                yield computing(observation, least, call(f"torch.{name}", ref(1), by))
            for name in ("floordiv", "mod", "truediv", "pow", "lshift", "rshift", "ifloordiv", "imod"):
                yield computing(observation, least, other, call(f"operator.{name}", ref(1), ref(2)))
