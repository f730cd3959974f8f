"""Send values of every form where an answer returns data: each check of such an exercise reads what was sent.

Harm: a check calls what it was sent, computes for ever, or takes odd values for the right ones.
"""

from classroom.tests.sandbox.forging import with_claims
from fxbook import tasks

EXERCISES = tuple(exercise.id for exercise in tasks.all_exercises() if exercise.use == "compute")
VALUES = (
    None, True, 0, -1, 10**300, 10**4000, "", "x" * 1_000_000, "\ud800\0", [], {}, {"dict": []}, {"tuple": []},
    {"float": "nan"}, {"float": "inf"}, {"float": "-1e308"}, {"float": "x"}, {"complex": ["nan", "nan"]}, {"set": []},
    {"dict": [["a", {"float": "nan"}]] * 1000}, {"dict": [[{"tuple": []}, {"tuple": []}]]}, {"dict": [[]]},
    {"tensor": "float32", "shape": [2**62, 0], "data": []}, {"tensor": "qint8", "shape": [1], "data": [1]},
    {"tensor": "bool", "shape": [1], "data": [2]}, {"tensor": "x", "shape": [1], "data": [1]}, [None] * 100_000,
    {"tensor": "float32", "shape": [100_000], "data": [0.5] * 100_000}, [{"float": "0.5"}] * 100_000, [[[[[]]]]],
    {"dict": [[str(at), [at] * 30] for at in range(3000)]}, {"torch": "float32"}, {"function": "os.system"},
)  # fmt: skip


def forged(observation):
    for value in VALUES:
        yield with_claims(observation, value=value)
