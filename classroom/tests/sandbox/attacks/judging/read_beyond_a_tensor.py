"""Call the kernel of batch norm, which does not look at the sizes of its statistics, under the name that torch has.

Harm: words of the judge's memory come out as numbers, and words of it are overwritten.
"""

from classroom.tests.sandbox.forging import call, computing, ref


def forged(observation):
    one = [call("torch.zeros", [1, 8]), call("torch.zeros", 1), call("torch.ones", 8)]
    for name in ("torch.native_batch_norm", "torch.batch_norm", "torch.nn.functional.batch_norm"):
        yield computing(observation, *one, call(name, ref(1), None, None, ref(2), ref(3), False, 0.0, 0.0))
        yield computing(observation, *one, call(name, ref(1), None, None, ref(2), ref(3), True, 1.0, 0.0))
