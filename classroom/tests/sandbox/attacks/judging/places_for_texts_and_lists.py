"""Call operators of TorchScript on lists and texts, which share names with those on tensors.

Harm: its interpreter is given what its compiler would have refused.
"""

from classroom.tests.sandbox.forging import call, computing, ref

OVERLOADS = (
    "t",
    "str",
    "left_t",
    "int",
    "float",
    "bool",
    "enum",
    "any",
    "str_list",
    "int_list",
    "Dict_str",
    "self_int",
    "List",
)
OVERLOADS += ("int_int", "Scalar", "complex", "device", "float_int", "hacked_twin", "generic", "prim_list")
OPERATORS = (
    "add",
    "mul",
    "slice",
    "sort",
    "eq",
    "ne",
    "sum",
    "all",
    "any",
    "min",
    "max",
    "round",
    "select",
    "split",
    "pow",
    "len",
)
ARGUMENTS = (
    ([1, 2], [3]),
    ("ab", "cd"),
    ("ab", 10**9),
    ([1], 10**9),
    ([["a"]], None),
    ([1.5, "x"], [None]),
    ({"dict": []}, 1),
)


def forged(observation):
    for operator in OPERATORS:
        for overload in OVERLOADS:
            for arguments in ARGUMENTS:
                yield computing(observation, call(f"torch.ops.aten.{operator}.{overload}", *arguments))
        yield computing(observation, call(f"torch.ops.aten.{operator}", [ref(0)], [ref(0), None]))
