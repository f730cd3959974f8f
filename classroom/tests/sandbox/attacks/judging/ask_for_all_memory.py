"""Make tensors larger than any memory, and products of their sizes that do not fit into a number.

Harm: the machine has no memory left; a size that wraps around is smaller than what is written.
"""

from classroom.tests.sandbox.forging import call, computing, method, ref

SIZES = ([2**40], [2**62], [2**31, 2**31], [2**32, 2**32], [2**33, 2**31, 2], [0, 2**62], [2**63 - 1], [-1], [2**70])


def forged(observation):
    for sizes in SIZES:
        yield computing(observation, call("torch.zeros", sizes))
        yield computing(observation, call("torch.full", sizes, 1.0), method("clone", ref(1)))
        yield computing(observation, method("expand", ref(0), *sizes, 1, 1, 1), method("contiguous", ref(1)))
        yield computing(observation, method("repeat", ref(0), *sizes, 1, 1, 1))
        yield computing(observation, method("new_zeros", ref(0), sizes))
    for many in (2**40, 10**18, 2**63 - 1):
        yield computing(observation, call("torch.arange", many))
        yield computing(observation, call("torch.eye", many))
        yield computing(observation, call("torch.linspace", 0, 1, many))
        yield computing(observation, call("torch.repeat_interleave", ref(0), many))
