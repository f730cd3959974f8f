"""Fetch attributes that are not on the list: by other spellings, by names that nodes compute, by defaults.

Harm: from a tensor a graph reaches Python's own objects.
"""

from classroom.tests.sandbox.forging import call, computing, node, ref

NAMES = (
    "__class__",
    "__dict__",
    "__globals__",
    "__subclasses__",
    "_base",
    "grad_fn",
    "_backward_hooks",
    "storage",
    "numpy",
)
NAMES += (
    "shape.__class__",
    "shape\0",
    "sha\u0440e",
    "__doc__",
    "_version",
    "names",
    "grad",
    "__torch_function__",
    "",
    "data ",
)


def forged(observation):
    for name in NAMES:
        yield computing(observation, call("builtins.getattr", ref(0), name))
        yield computing(observation, call("builtins.getattr", ref(0), name, None))
        yield computing(observation, call("operator.attrgetter", name), call("operator.call", ref(1), ref(0)))
        yield computing(observation, call("torch.Tensor.__getattribute__", ref(0), name))
        yield computing(observation, node("get_attr", name))
        computed = call("operator.add", name[:2], name[2:])
        yield computing(observation, computed, call("builtins.getattr", ref(0), ref(1)))
    yield computing(observation, call("builtins.getattr", ref(0), "shape", default=ref(0)))
    yield computing(observation, call("builtins.getattr", object=ref(0), name="__class__"))
    chain = [call("builtins.getattr", ref(place), "data") for place in range(200)]
    yield computing(observation, *chain, call("builtins.getattr", ref(200), "__class__"))
