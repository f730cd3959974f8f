"""Double a tensor node by node, and keep every one.

Harm: the grader's machine is out of memory.
"""

from classroom.tests.sandbox.forging import call, output, placeholder, ref, with_graph


def forged(observation):
    doubled = [call("torch.cat", [ref(place), ref(place)]) for place in range(60)]
    kept = output([ref(place) for place in range(61)])
    yield with_graph(observation, placeholder(), *doubled, kept)
    filled = [call("torch.ones", [1 << 22]) for _ in range(1000)]
    yield with_graph(observation, placeholder(), *filled, output([ref(place) for place in range(1001)]))
