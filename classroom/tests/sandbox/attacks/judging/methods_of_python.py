"""Call the methods with which Python's objects lead to each other.

Harm: from a tensor, a text or a module a graph reaches what Python keeps.
"""

from classroom.tests.sandbox.forging import PASS, computing, method, node, ref

EXERCISES = (PASS,)
METHODS = (
    "__class__",
    "__init__",
    "__reduce__",
    "__reduce_ex__",
    "__getattribute__",
    "__getattr__",
    "__setattr__",
    "__call__",
)
METHODS += (
    "__subclasses__",
    "__init_subclass__",
    "__dir__",
    "__format__",
    "__repr__",
    "__sizeof__",
    "__setstate__",
    "mro",
)
METHODS += (
    "__torch_function__",
    "__torch_dispatch__",
    "__array__",
    "__dlpack__",
    "__deepcopy__",
    "__cuda_array_interface__",
)
METHODS += (
    "format",
    "format_map",
    "encode",
    "decode",
    "join",
    "translate",
    "numpy",
    "data_ptr",
    "storage",
    "untyped_storage",
)
METHODS += (
    "apply_",
    "map_",
    "map2_",
    "register_hook",
    "backward",
    "share_memory_",
    "set_",
    "to_sparse",
    "pin_memory",
    "cuda",
)
METHODS += (
    "append",
    "extend",
    "pop",
    "clear",
    "update",
    "setdefault",
    "sort",
    "copy",
    "index",
    "count",
    "insert",
    "remove",
)
METHODS += (
    "apply",
    "register_forward_hook",
    "load_state_dict",
    "state_dict",
    "get_submodule",
    "add_module",
    "to_folder",
)
METHODS += (
    "recompile",
    "register_buffer",
    "compile",
    "_apply",
    "_load_from_state_dict",
    "__exit__",
    "_call_impl",
    "eval",
)


def forged(observation):
    for name in METHODS:
        for receiver in (ref(0), "{0.__class__}", [1], {"dict": [["a", 1]]}, {"slice": [1, 2, 3]}, ref(1)):
            module = node("get_attr", "0")
            yield computing(observation, module, method(name, receiver))
        yield computing(observation, module, method(name, ref(1), ref(0), "touch /tmp/by-an-attack"))
