"""Name nodes, origins and cases by places that are negative, huge or of another type.

Harm: what is read lies outside, or is the judge's.
"""

from classroom.tests.sandbox.forging import PASS, with_claims

EXERCISES = (PASS,)


def forged(observation):
    count = len(observation["cases"][0]["origins"])
    for place in (-1, -(2**63), 2**63, 10**300, True, False, 0.0, "0", [0], {"node": 0}, 99):
        yield with_claims(observation, origins=[place] * count)
        yield with_claims(
            observation, run_node=place, run_error="RuntimeError: x", outputs=None, wire={"refused": "no"}
        )
        yield with_claims(observation, wire={"refused": "no"}, origins=[place] * count)
        yield with_claims(observation, shared={"0.weight": place}, modules=[place])
        yield with_claims(observation, same_object=place)
    for length in (0, 1, count - 1, count + 1, 100_000):
        yield with_claims(observation, origins=[0] * length)
        yield with_claims(observation, wire={"refused": "no"}, origins=[0] * length)
