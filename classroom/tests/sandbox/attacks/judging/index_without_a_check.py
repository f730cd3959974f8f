"""Call the losses and searches whose kernels take indices as they are given.

Harm: memory at an index of the attacker's is read or written.
"""

from classroom.tests.sandbox.forging import call, computing, ref

CTC = ("torch.ctc_loss", "torch._ctc_loss", "torch.nn.functional.ctc_loss", "torch.ops.aten._ctc_loss.default")
CTC += ("torch.ops.aten.ctc_loss.IntList", "torch.ops.aten.ctc_loss.Tensor", "torch.ops.aten._ctc_loss.Tensor")
OTHERS = ("embedding_bag", "_embedding_bag", "index_select", "gather", "take", "put_", "scatter_", "index_put_")
OTHERS += ("index_add_", "index_copy_", "_index_put_impl_", "_unsafe_index", "bincount", "max_unpool2d", "grid_sampler")
OTHERS += (
    "nll_loss",
    "nll_loss2d_forward",
    "segment_reduce",
    "searchsorted",
    "histc",
    "fractional_max_pool2d",
    "ormqr",
)
OTHERS += ("_unsafe_index_put", "_unsafe_masked_index", "lstm", "gru", "rnn_tanh", "cdist", "_sparse_coo_tensor_unsafe")


def forged(observation):
    makers = [call("torch.zeros", [4, 1, 3]), call("torch.full", [8], 10**12)]
    for name in CTC:
        yield computing(observation, *makers, call(name, ref(1), ref(2), [4], [8], -7))
    for name in OTHERS:
        for spelled in (f"torch.{name}", f"torch.ops.aten.{name}.default", f"torch.nn.functional.{name}"):
            yield computing(observation, *makers, call(spelled, ref(1), 0, ref(2)))
            yield computing(observation, *makers, call(spelled, ref(1), ref(2)))
