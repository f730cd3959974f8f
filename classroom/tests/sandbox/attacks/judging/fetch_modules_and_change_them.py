"""Fetch the submodules of the model that was given as values, and change them by what may be called on them.

Harm: what is expected changes with them, so that a wrong graph is right.
"""

from classroom.tests.sandbox.forging import PASS, call, computing, method, node, ref

EXERCISES = (PASS,)
CHANGES = (
    "zero_",
    "fill_",
    "half",
    "double",
    "float",
    "type",
    "requires_grad_",
    "train",
    "eval",
    "to",
    "cpu",
    "share_memory",
)


def forged(observation):
    for path in ("0", "0.weight", "0.bias", "2", "training", "0.in_features"):
        fetched = node("get_attr", path)
        for change in CHANGES:
            yield computing(observation, fetched, method(change, ref(1)), call("torch.zeros_like", ref(0)))
        yield computing(observation, fetched, method("mul_", ref(1), 0.0), method("mul_", ref(0), 0.0))
        yield computing(observation, fetched, call("operator.imul", ref(1), 0.0))
        yield computing(observation, fetched, call("operator.setitem", ref(1), ..., 0.0))
