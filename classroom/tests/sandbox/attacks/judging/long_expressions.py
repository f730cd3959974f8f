"""Chain so many nodes, and so long names, that their program is too long or too deep for Python's compiler.

Harm: the compiler overflows its stack in the judge.
"""

from classroom.tests.sandbox.forging import call, computing, ref


def forged(observation):
    chain = [call("operator.add", ref(at), ref(at)) for at in range(4000)]
    yield computing(observation, *chain)
    named = [{**call("torch.neg", ref(at)), "name": f"{'n' * 190}{at}"} for at in range(3000)]
    yield computing(observation, *named)
    same = [{**call("torch.neg", ref(0)), "name": "same"} for _ in range(3000)]
    yield computing(observation, *same)
    yield computing(observation, call("builtins.len", [1.5] * 200_000))
    yield computing(observation, call("builtins.len", ["\\" * 1_000_000]))
    yield computing(observation, call("builtins.len", [10**4000] * 500))
    yield computing(
        observation, *(call("torch.add", ref(0), 1, **{f"k{at}": at for at in range(300)}) for _ in range(20))
    )
