"""Call the kernels under layers, by their names in aten, with sizes that the layers would refuse.

Harm: a kernel trusts what its layer would have checked.
"""

import itertools

from classroom.tests.sandbox.forging import call, computing, ref

SIZES = (0, 1, 3, -1, 2**31, 2**62)


def forged(observation):
    small = call("torch.ones", 1)
    for one, two, three in itertools.product(SIZES, SIZES, SIZES):
        name = "torch.ops.aten.native_group_norm.default"
        yield computing(observation, small, call(name, ref(0), ref(1), ref(1), one, two, three, 3, 1e-5))
    for one, two in itertools.product(SIZES, SIZES):
        yield computing(observation, small, call("torch.ops.aten.group_norm.default", ref(0), one, ref(1), ref(1), two))
        yield computing(
            observation, small, call("torch.ops.aten.native_layer_norm.default", ref(0), [one], ref(1), ref(1), two)
        )
        yield computing(observation, call("torch.ops.aten._softmax.default", ref(0), one, two))
        yield computing(observation, call("torch.ops.aten._log_softmax.default", ref(0), one, bool(two)))
        yield computing(observation, call("torch.ops.aten._unsafe_view.default", ref(0), [one, two]))
        yield computing(observation, call("torch.ops.aten.expand.default", ref(0), [one, two, 4]))
        yield computing(observation, call("torch.ops.aten.slice.Tensor", ref(0), one, two, -two, one))
        yield computing(observation, call("torch.ops.aten.split_with_sizes.default", ref(0), [one, two], 0))
        yield computing(observation, call("torch.ops.aten.unflatten.int", ref(0), 0, [one, two]))
        yield computing(observation, call("torch.ops.aten.native_dropout.default", ref(0), float(one), bool(two)))
        yield computing(observation, call("torch.ops.aten.diagonal.default", ref(0), one, two, 0))
