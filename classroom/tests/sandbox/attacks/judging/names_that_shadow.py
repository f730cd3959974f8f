"""Name nodes as what generated code looks up: torch, operator, math, getattr, and functions that it calls.

Harm: a listed name leads to what a node gave, and to attributes of that.
"""

from classroom.tests.sandbox.forging import call, output, placeholder, ref, with_graph

NAMES = (
    "torch",
    "operator",
    "math",
    "builtins",
    "getattr",
    "inf",
    "nan",
    "NoneType",
    "device",
    "slice",
    "Ellipsis",
    "len",
)
NAMES += (
    "torch_nn_functional_relu",
    "_operator_add",
    "fx_pytree",
    "pytree",
    "wrap",
    "forward",
    "print",
    "exec",
    "eval",
)
NAMES += (
    "__builtins__",
    "__import__",
    "__name__",
    "__debug__",
    "_",
    "__",
    "GraphModule",
    "add",
    "math_floor",
    "root",
    "cls",
)


def forged(observation):
    for name in NAMES:
        nodes = [
            placeholder(),
            call("torch.neg", ref(0)),
            call("torch.nn.functional.relu", ref(1)),
            call("math.floor", 2.5),
        ]
        nodes += [call("operator.add", ref(2), ref(1)), call("builtins.getattr", ref(4), "data"), output(ref(5))]
        for place in range(6):
            named = [{**node, "name": name} if at == place else node for at, node in enumerate(nodes)]
            yield with_graph(observation, *named)
        yield with_graph(observation, *({**node, "name": name} for node in nodes))
