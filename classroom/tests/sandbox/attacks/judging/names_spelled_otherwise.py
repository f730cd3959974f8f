"""Spell names that are on the list, and names that are not, in ways that a list might take for others.

Harm: a function is called that is not on the list.
"""

from classroom.tests.sandbox.forging import call, computing, ref

BASES = ("os.system", "torch.load", "torch.as_strided", "torch.native_batch_norm", "builtins.eval")
CHANGES = (
    lambda name: name + "\0",
    lambda name: "\0" + name,
    lambda name: " " + name,
    lambda name: name + "\n",
    lambda name: name.upper(),
    lambda name: name.replace(".", ".."),
    lambda name: name.replace("o", "\u043e"),
    lambda name: name.replace("a", "\uff41"),
    lambda name: name.replace(".", "\u2024"),
    lambda name: "torch." + name,
    lambda name: "builtins." + name,
    lambda name: "torch.ops.aten." + name,
    lambda name: "torch.relu." + name,
    lambda name: "torch.Tensor." + name,
    lambda name: name + ".__call__",
    lambda name: name + ".__wrapped__",
    lambda name: name + ".__func__",
    lambda name: "operator." + name,
    lambda name: "math." + name.rpartition(".")[2],
    lambda name: "torch.nn.functional." + name.rpartition(".")[2],
    lambda name: "torch.ops.aten.add." + name.rpartition(".")[2],
    lambda name: "\u202e" + name[::-1],
)


def forged(observation):
    for base in BASES:
        for change in CHANGES:
            yield computing(observation, call(change(base), "touch /tmp/by-an-attack"))
            yield computing(observation, call(change(base), ref(0), [4], [1 << 20]))
