"""Have torch print, warn and raise with messages as long as they can be.

Harm: what is written reaches the grader's terminal or fills its disk.
"""

from classroom.tests.sandbox.forging import call, computing, output, placeholder, ref, with_graph


def forged(observation):
    long = "x" * 6_000_000
    yield computing(observation, call("torch._assert", False, long))
    yield computing(observation, call("torch.fx._symbolic_trace._assert_is_none", 1, long))
    yield computing(observation, call("builtins.int", long))
    yield computing(observation, call("builtins.float", long))
    yield computing(observation, call("torch.einsum", long, ref(0)))
    yield computing(observation, call("torch.zeros", [0] * 500_000))
    yield computing(observation, call("torch.arange", 5), call("torch.add", ref(0), ref(1), out=ref(1)))
    warns = [call("torch.add", ref(0), ref(0), out={"tensor": 0}) for _ in range(3000)]
    small = {"dtype": "float32", "shape": [1], "data": "AAAAAA==", "parameter": False, "requires_grad": False}
    yield with_graph(observation, placeholder(), *warns, output(ref(1)), tensors=[small])
