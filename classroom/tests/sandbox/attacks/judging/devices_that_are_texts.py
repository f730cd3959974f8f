"""Name devices, types and generators as text, where torch takes text for them.

Harm: a backend is loaded, a file read, a program started.
"""

from classroom.tests.sandbox.forging import call, computing, method, ref

DEVICES = (
    "cuda",
    "cuda:0",
    "cuda:-1",
    "xpu",
    "mps",
    "hpu",
    "xla",
    "ipu",
    "vulkan",
    "privateuseone",
    "mkldnn",
    "opengl",
    "fpga",
)
DEVICES += ("maia", "lazy", "mtia", "ort", "hip", "ve", "ideep", "cpu:99999", "\0", "x" * 100_000, "meta", "cpu:0")


def forged(observation):
    for device in DEVICES:
        yield computing(observation, call("torch.zeros", 2, device=device))
        yield computing(observation, method("to", ref(0), device))
        yield computing(observation, method("new_zeros", ref(0), [2], device=device))
        yield computing(observation, call("torch.tensor", [1.0], device=device, pin_memory=True))
        yield computing(observation, call("torch.ops.aten._to_copy.default", ref(0), device=device, non_blocking=True))
    for name in ("generator", "out", "layout", "pin_memory", "memory_format", "names", "requires_grad", "dtype"):
        for value in ("evil", 1, ref(0), [ref(0)], None, True):
            yield computing(observation, call("torch.rand", [2], **{name: value}))
            yield computing(observation, call("torch.zeros_like", ref(0), **{name: value}))
