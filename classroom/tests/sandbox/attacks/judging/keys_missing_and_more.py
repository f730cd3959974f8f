"""Leave out each part of an observation, of a case and of a description, and add parts that none has.

Harm: the judge fails in a way that it does not catch, or takes what is missing for right.
"""

from classroom.tests.sandbox.forging import PASS, with_claims, with_wire

EXERCISES = (PASS,)


def forged(observation):
    for key in observation:
        yield {name: held for name, held in observation.items() if name != key}
    for key in observation["cases"][0]:
        changed = with_claims(observation)
        for case in changed["cases"]:
            del case[key]
        yield changed
    for key in observation["cases"][0]["wire"]:
        yield with_wire(observation, lambda wire, name=key: wire.pop(name))
    for key in observation["cases"][0]["wire"]["nodes"][0]:
        yield with_wire(observation, lambda wire, name=key: [node.pop(name) for node in wire["nodes"]])
    yield {**observation, "passed": True, "violation": None, "rule": "", "unproven": [], "__class__": "Verdict"}
    yield with_claims(observation, passed=True, expected=[], case=None, exercise=None, seed=1, model=None)
    yield {**observation, "cases": observation["cases"][:1]}
    yield {**observation, "cases": []}
    yield {**observation, "cases": observation["cases"] * 2}
    yield {**observation, "exercise": "00-readers"}
    yield {**observation, "seed": True}
