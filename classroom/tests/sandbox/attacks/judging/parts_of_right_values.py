"""Put values of odd forms in the place of each part of what a right answer returns.

Harm: a check calls what it was sent, computes for ever, or takes odd values for the right ones.
"""

from classroom.tests.sandbox.forging import with_claims
from fxbook import tasks

EXERCISES = tuple(exercise.id for exercise in tasks.all_exercises() if exercise.use == "compute")
ODD = (
    None,
    -1,
    10**4000,
    {"float": "nan"},
    "x" * 100_000,
    [],
    {"dict": []},
    {"tensor": "int8", "shape": [0], "data": []},
)


def parts(value, odd):
    """The value with each of its outer parts replaced."""
    if isinstance(value, dict) and len(value) == 1:
        [(kind, inner)] = value.items()
        if kind == "dict":
            for at, (key, held) in enumerate(inner):
                yield {kind: [*inner[:at], [key, odd], *inner[at + 1 :]]}
                yield {kind: [*inner[:at], [odd, held], *inner[at + 1 :]]}
                yield from ({kind: [*inner[:at], [key, part], *inner[at + 1 :]]} for part in parts(held, odd))
        elif isinstance(inner, list):
            yield from ({kind: part} for part in parts(inner, odd))
        else:
            yield {kind: odd}
    elif isinstance(value, list):
        yield from ([*value[:at], odd, *value[at + 1 :]] for at in range(len(value)))


def forged(observation):
    for odd in ODD:
        for at, case in enumerate(observation["cases"]):
            for value in parts(case["value"], odd):
                changed = with_claims(observation)
                changed["cases"][at]["value"] = value
                yield changed
