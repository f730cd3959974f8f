"""Call operators of the namespaces beside aten: those that profile, quantize, compile and distribute.

Harm: one of them is found, and does what no graph may.
"""

from classroom.tests.sandbox.forging import call, computing, ref

NAMES = ("prim.Print", "prim.RaiseException", "prim.NumToTensor.Scalar", "prim.device.default", "prims.add.default")
NAMES += ("profiler._record_function_enter", "profiler._record_function_enter_new", "inductor._reinterpret_tensor")
NAMES += (
    "inductor.accumulate_grad_",
    "inductor._alloc_from_pool",
    "_c10d_functional.all_reduce",
    "c10d.send",
    "c10d.recv_",
)
NAMES += (
    "quantized.linear_unpack",
    "quantized.conv2d_prepack",
    "quantized.embedding_bag_byte",
    "mkldnn._linear_pointwise",
)
NAMES += (
    "static_runtime.dict_unpack",
    "higher_order.cond",
    "higher_order.print",
    "rngprims.philox_rand",
    "mkl._mkl_linear",
)
NAMES += (
    "fsdp.copy_",
    "debugprims.load_tensor.default",
    "export.foo",
    "symm_mem.one_shot_all_reduce",
    "aten._print.default",
)
NAMES += (
    "aten.warn.default",
    "aten.save.default",
    "aten.from_file.default",
    "aten._has_torch_function",
    "aten.__class__",
)


def forged(observation):
    for name in NAMES:
        for spelled in (f"torch.ops.{name}", f"torch.ops.aten.{name}", f"torch._ops.ops.{name}"):
            yield computing(observation, call(spelled, ref(0)))
            yield computing(observation, call(spelled, "/tmp/by-an-attack"))
