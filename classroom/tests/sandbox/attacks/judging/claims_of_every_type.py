"""Put values of every JSON type in place of each claim of an observation, one after the other.

Harm: the judge fails in a way that it does not catch, or believes it.
"""

from classroom.tests.sandbox.forging import BUILD, COMPUTE, PASS, with_claims

EXERCISES = (BUILD, PASS, COMPUTE)
VALUES = (
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "x",
    [],
    {},
    [None],
    {"x": 1},
    10**300,
    float("nan"),
    float("inf"),
    "\ud800",
    [[]],
    [{}],
)


def forged(observation):
    for value in VALUES:
        yield value
        for key in observation:
            yield {**observation, key: value}
        for key in observation["cases"][0]:
            if key != "value":
                yield with_claims(observation, wire={"refused": "no"}, **{key: value} if key != "wire" else {})
                yield with_claims(observation, **{key: value})
        yield {**observation, "cases": [value] * len(observation["cases"])}
        yield {
            **observation,
            "error": {"type": value, "message": value, "line": value, "number": value, "loading": value},
        }
