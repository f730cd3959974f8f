"""Draw random numbers and drop with probabilities that are none, into tensors of any type.

Harm: a kernel loops without end, or writes beyond its tensor.
"""

from classroom.tests.sandbox.forging import call, computing, method, ref

ODD = (-1.0, 2.0, float("nan"), float("inf"), 1e308, -0.0, 10**18)


def forged(observation):
    for chance in ODD:
        for name in ("dropout", "alpha_dropout", "feature_dropout", "dropout_"):
            yield computing(observation, call(f"torch.{name}", ref(0), chance, True))
            yield computing(observation, method("long", ref(0)), call(f"torch.{name}", ref(1), chance, True))
        yield computing(observation, call("torch.nn.functional.dropout", ref(0), chance, True, True))
        yield computing(observation, call("torch.arange", 0, 1, chance))
        yield computing(observation, call("torch.arange", chance, -chance, 1e-300))
        yield computing(observation, call("torch.linspace", chance, -chance, 100))
        yield computing(
            observation, call("torch.topk", ref(0), 4, sorted=False), call("torch.std", ref(0), correction=chance)
        )
        yield computing(
            observation, call("torch.full", [3], chance), method("long", ref(1)), call("torch.zeros", ref(2))
        )
