"""Give `einsum`, `tensordot`, `pad` and `norm` equations and modes of any kind.

Harm: a kernel is called with dimensions that nobody checked, or a parser never ends.
"""

from classroom.tests.sandbox.forging import call, computing, ref

EQUATIONS = (
    "",
    "->",
    "...",
    "a...a->...",
    "abc->aaa",
    "a" * 100_000,
    "a," * 10_000,
    "\0",
    "ijk->ijk->ijk",
    "...->" + "." * 9999,
)
EQUATIONS += (
    "Aa,aA->",
    "abc,abc,abc->",
    "ij...,jk...->ik...",
    "\u00e9\u00e9->\u00e9",
    "a b c -> c b a",
    "abc->abcd",
    "[[",
)


def forged(observation):
    for text in EQUATIONS:
        yield computing(observation, call("torch.einsum", text, ref(0)))
        yield computing(observation, call("torch.einsum", text, ref(0), ref(0), ref(0)))
        yield computing(observation, call("torch.nn.functional.pad", ref(0), [1, 1], text))
        yield computing(observation, call("torch.norm", ref(0), text))
        yield computing(observation, call("torch.linalg.norm", ref(0), text))
        yield computing(observation, call("torch.meshgrid", ref(0), ref(0), indexing=text))
        yield computing(observation, call("torch.div", ref(0), 2, rounding_mode=text))
        yield computing(observation, call("torch.nn.functional.gelu", ref(0), approximate=text))
    for dims in (-1, 4, 10**18, [[0, 1], [2, 99]], [[-5], [7]], [[0] * 70, [0] * 70], [[], [0]], [[0], [True]]):
        yield computing(observation, call("torch.tensordot", ref(0), ref(0), dims))
        yield computing(observation, call("torch.einsum", ref(0), dims))
        yield computing(observation, call("torch.einsum", ref(0), [0, 51, -1], ref(0), [0, 1, 2**40]))
