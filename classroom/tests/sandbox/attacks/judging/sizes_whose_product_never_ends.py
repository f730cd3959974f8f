"""Claim a tensor with so many sizes of so many digits that their product takes for ever.

Harm: the class waits for one answer.
"""

from classroom.tests.sandbox.forging import with_claims


def forged(observation):
    for count, digits in ((100_000, 2_900), (1_000, 3_000), (1_000_000, 6)):
        size = 10**digits - 1
        value = {"tensor": "float32", "shape": [size] * min(count, 7_000_000 // digits), "data": []}
        yield with_claims(observation, wire={"refused": "no"}, outputs=[value, value], run_error=None)
