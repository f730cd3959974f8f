"""Pool and convolve with windows, strides, pads and dilations that no image has.

Harm: a window that lies outside its image is read.
"""

import itertools

from classroom.tests.sandbox.forging import call, computing, ref

VALUES = (0, -1, 1, 2**31 - 1, 2**31, 2**62, 2**63 - 1, -(2**63))


def forged(observation):
    for window, stride, pad in itertools.product(VALUES, VALUES, (0, 1, -1, 2**31)):
        yield computing(observation, call("torch.max_pool1d", ref(0), window, stride, pad))
    for name in ("torch.max_pool2d", "torch.nn.functional.avg_pool2d", "torch.ops.aten.max_pool2d.default"):
        for value in VALUES:
            yield computing(observation, call(name, ref(0), [value, 1], [1, value], [0, value]))
    for value in VALUES:
        yield computing(observation, call("torch.conv1d", ref(0), ref(0), None, value, value, value, value))
        yield computing(observation, call("torch.nn.functional.adaptive_avg_pool2d", ref(0), [value, value]))
        yield computing(observation, call("torch.nn.functional.pad", ref(0), [value, -value], "constant", 1.0))
        yield computing(observation, call("torch.nn.functional.pad", ref(0), [value, value], "reflect"))
