"""Call the kernels of batch norm by all the names that they have below torch.

Harm: as of the name in torch.
"""

from classroom.tests.sandbox.forging import call, computing, ref

NAMES = ("native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training", "cudnn_batch_norm")
NAMES += ("_batch_norm_with_update", "_batch_norm_no_update", "batch_norm", "_native_batch_norm_legit_functional")
OVERLOADS = ("", ".default", ".out", ".no_stats", ".no_stats_out", ".overload_name")


def forged(observation):
    one = [call("torch.zeros", [1, 8]), call("torch.zeros", 1), call("torch.ones", 8)]
    for name in NAMES:
        for overload in OVERLOADS:
            spelled = f"torch.ops.aten.{name}{overload}"
            yield computing(observation, *one, call(spelled, ref(1), None, None, ref(2), ref(3), False, 0.0, 0.0))
