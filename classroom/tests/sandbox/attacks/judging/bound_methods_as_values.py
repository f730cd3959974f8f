"""Fetch a method of a tensor as a value, and hand it to functions that call what they get.

Harm: a function is called that no list was asked for.
"""

from classroom.tests.sandbox.forging import call, computing, ref


def forged(observation):
    for name in ("min", "max", "is_complex", "is_floating_point", "values", "indices"):
        bound = call("builtins.getattr", ref(0), name)
        for caller in (
            "builtins.max",
            "builtins.min",
            "builtins.sum",
            "builtins.list",
            "builtins.tuple",
            "builtins.any",
        ):
            yield computing(observation, bound, call(caller, [ref(0), ref(0)], key=ref(1)))
            yield computing(observation, bound, call(caller, ref(1)))
        for caller in ("torch.add", "torch.cat", "torch.tensor", "torch.as_tensor", "torch.einsum", "torch.where"):
            yield computing(observation, bound, call(caller, ref(1), ref(1)))
        yield computing(observation, bound, call("builtins.getattr", ref(1), "data"))
