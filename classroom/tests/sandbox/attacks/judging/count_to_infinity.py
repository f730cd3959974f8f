"""Compute with Python's own numbers, which grow without end.

Harm: the grader waits, or has no memory.
"""

from classroom.tests.sandbox.forging import call, computing, ref

HUGE = 10**18


def forged(observation):
    yield computing(observation, call("operator.pow", 10, HUGE))
    yield computing(observation, call("operator.lshift", 1, HUGE))
    yield computing(observation, call("builtins.pow", 7, HUGE, 10**300))
    yield computing(observation, call("math.factorial", 10**7))
    yield computing(observation, call("math.comb", 10**9, 10**8))
    yield computing(observation, call("math.perm", 10**9, 10**8))
    yield computing(observation, call("builtins.list", range(HUGE)))
    yield computing(observation, call("builtins.sum", range(HUGE)))
    yield computing(observation, call("builtins.max", range(HUGE)))
    yield computing(observation, call("builtins.tuple", range(0, -HUGE, -1)))
    yield computing(observation, call("operator.mul", "ab", HUGE))
    yield computing(observation, call("operator.mul", [1, 2], HUGE))
    yield computing(observation, call("operator.contains", range(HUGE), "x"))
    yield computing(observation, call("operator.countOf", range(HUGE), 1))
    yield computing(observation, call("operator.indexOf", range(HUGE), -1))
    squares = [call("operator.mul", ref(place), ref(place)) for place in range(2, 60)]
    yield computing(observation, call("builtins.int", 2), call("operator.add", ref(1), 1), *squares)
