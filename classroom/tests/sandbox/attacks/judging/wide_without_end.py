"""Send more nodes, arguments, modules, tensors and claims than any graph has.

Harm: the judge takes all time or memory.
"""

from classroom.tests.sandbox.forging import call, computing, full, ref, with_claims, with_wire


def forged(observation):
    yield computing(observation, *(call("torch.neg", ref(0)) for _ in range(4990)))
    yield computing(observation, *(call("torch.neg", ref(0)) for _ in range(6000)))
    yield computing(observation, call("torch.relu", *([1] * 300_000)))
    yield computing(observation, call("torch.cat", [ref(0)] * 100_000))
    yield computing(observation, call("torch.relu", {"dict": [[str(at), at] for at in range(100_000)]}))
    yield computing(observation, *(call("torch.relu", {"foreign": f"f{at}", "erased": True}) for at in range(200)))
    yield with_wire(observation, lambda wire: wire.update(modules=[full(given="")] * 1999))
    yield with_wire(observation, lambda wire: wire.update(tensors=[{"given": "x"}] * 1_000_000))
    yield with_claims(observation, changes=["x"] * 1_000_000)
    yield with_claims(observation, origins=[None] * 1_000_000)
    yield with_claims(observation, shared={str(at): None for at in range(200_000)})
    yield {**observation, "printed": "x" * 7_000_000}
    yield {**observation, "cases": observation["cases"] * 10_000}
