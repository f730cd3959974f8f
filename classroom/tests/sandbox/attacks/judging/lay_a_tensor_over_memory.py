"""Ask for a view with strides and an offset of one's own, in each way that torch has.

Harm: a tensor that lies over memory which is not its own.
"""

from classroom.tests.sandbox.forging import call, computing, method, ref

FUNCTIONS = ("torch.as_strided", "torch.as_strided_", "torch.as_strided_copy", "torch.Tensor.as_strided")
FUNCTIONS += ("torch.ops.aten.as_strided", "torch.ops.aten.as_strided.default", "torch.ops.aten.as_strided_.default")
FUNCTIONS += ("torch.ops.aten._reshape_alias.default", "torch.ops.aten.as_strided_scatter.default")
FUNCTIONS += ("torch.ops.aten.set_.source_Storage_storage_offset", "torch.Tensor.set_", "torch.empty_strided")
FUNCTIONS += ("torch.Tensor.resize_", "torch.ops.aten.resize_.default", "torch._C._TensorBase.as_strided")
METHODS = (
    "as_strided",
    "as_strided_",
    "set_",
    "resize_",
    "resize_as_",
    "untyped_storage",
    "unfold",
    "new_empty_strided",
)


def forged(observation):
    for name in FUNCTIONS:
        yield computing(observation, call(name, ref(0), [4], [1 << 20], 0))
    for name in METHODS:
        yield computing(observation, method(name, ref(0), [4], [1 << 20], 0))
