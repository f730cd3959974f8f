"""Nest arguments, modules and claims as deep as JSON can be.

Harm: the judge's stack overflows, or the grader's.
"""

from classroom.tests.sandbox.forging import call, computing, with_claims


def forged(observation):
    for depth in (19, 21, 149, 900, 100_000):
        deep: object = 0
        for _ in range(depth):
            deep = [deep]
        yield computing(observation, call("torch.relu", deep) if depth < 900 else {**call("torch.relu"), "args": deep})
        tuples: object = 0
        for _ in range(depth):
            tuples = {"tuple": [tuples]}
        yield computing(observation, {**call("torch.relu"), "kwargs": {"dict": [["x", tuples]]}})
        yield with_claims_shallow(observation, value=deep)
        yield with_claims_shallow(observation, outputs=deep)
        yield with_claims_shallow(observation, graph={"nodes": [], "lint": deep, "stale": False})
        yield deep


def with_claims_shallow(observation, **claimed):
    # A copy of what is nested so deep is not to be had.
    changed = with_claims(observation)
    for case in changed["cases"]:
        case.update(claimed)
    return changed
