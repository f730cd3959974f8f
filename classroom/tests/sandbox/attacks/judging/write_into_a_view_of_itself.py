"""Write into a tensor whose elements share their place, and into what is read meanwhile.

Harm: kernels write beyond what there is.
"""

from classroom.tests.sandbox.forging import call, computing, method, ref

WRITES = ("add_", "mul_", "copy_", "sort", "cumsum_", "fill_", "masked_fill_", "zero_", "lerp_", "clamp_", "exp_")


def forged(observation):
    for name in WRITES:
        wide = [method("reshape", ref(0), -1), method("select", ref(1), 0, 0), method("expand", ref(2), 1000, 1000)]
        yield computing(observation, *wide, method(name, ref(3), ref(3)))
        yield computing(observation, *wide, call("operator.setitem", ref(3), (slice(None, None, 2),), ref(3)))
        yield computing(observation, *wide, method("t", ref(3)), method(name, ref(3), ref(4)))
        shifted = [method("reshape", ref(0), -1), call("operator.getitem", ref(1), slice(1, None))]
        yield computing(
            observation, *shifted, call("operator.getitem", ref(1), slice(None, -1)), method(name, ref(2), ref(3))
        )
