"""Ask for gradients on tensors of all types, and change in place what needs them.

Harm: autograd calls back into what was freed.
"""

import base64

from classroom.tests.sandbox.forging import call, computing, method

ONE = base64.b64encode(bytes(16)).decode()


def forged(observation):
    for dtype, count in (("float32", 4), ("complex64", 2), ("int64", 2), ("bool", 16), ("bfloat16", 8)):
        for parameter in (True, False):
            entry = {"dtype": dtype, "shape": [count], "data": ONE, "parameter": parameter, "requires_grad": True}
            held = {"tensor": 0}
            yield computing(observation, method("add_", held, 1), tensors=[entry])
            yield computing(observation, method("requires_grad_", held, False), method("zero_", held), tensors=[entry])
            yield computing(observation, call("operator.setitem", held, 0, held), tensors=[entry])
            yield computing(observation, call("torch.detach_", held), method("mul_", held, held), tensors=[entry])
