"""Ask for a small result that takes very long to compute.

Harm: the class waits for one answer.
"""

from classroom.tests.sandbox.forging import call, computing, method, ref


def forged(observation):
    wide = call("torch.ones", [4000, 4000])
    products = [call("torch.matmul", ref(place), ref(1)) for place in range(1, 500)]
    yield computing(observation, wide, *products)
    sorts = [method("cumsum", ref(place), 0) for place in range(1, 4000)]
    yield computing(observation, call("torch.rand", [20_000_000]), *sorts)
    letters = "abcdefghijklmnopqrstuvwxyz"
    small = call("torch.ones", [2] * 20)
    yield computing(observation, small, call("torch.einsum", f"{letters[:20]},{letters[6:]}->ab", ref(1), ref(1)))
    yield computing(observation, call("torch.conv1d", call_ones(), call_ones()))


def call_ones():
    return [[[1.0] * 2000] * 3]
