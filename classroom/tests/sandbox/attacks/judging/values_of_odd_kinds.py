"""Pass values whose description is odd: floats that are none, sizes that are text, ranges and slices of anything.

Harm: building them runs code, or takes the judge's time or memory.
"""

from classroom.tests.sandbox.forging import call, computing, ref

ODD = (
    {"float": "1e999"}, {"float": "nan"}, {"float": "1_0"}, {"float": "0x10"}, {"float": "9" * 100_000}, {"float": ""},
    {"float": 1}, {"complex": ["nan", "inf"]}, {"complex": ["1"]}, {"complex": "1j"}, {"range": [0, 10**300, 1]},
    {"range": [0, 1, 0]}, {"range": [0.5, 1, 1]}, {"slice": [1, 2]}, {"slice": [{"slice": [1, 2, 3]}] * 3},
    {"slice": [10**300, -(10**300), 10**300]}, {"size": ["1"]}, {"size": [-1, 2**63]}, {"size": [2**64]},
    {"ellipsis": False}, {"dtype": "load"}, {"dtype": "float32\0"}, {"dtype": "qint8"}, {"device": "cuda:0"},
    {"device": "privateuseone:99999"}, {"layout": "sparse_coo"}, {"memory_format": "__class__"}, {"tensor": 10**300},
    {"tensor": -1}, {"tensor": True}, {"tensor": "0"}, {"node": -1}, {"node": 10**300}, {"node": True}, {"node": 0.0},
    {"node": "0"}, {"unknown": "x" * 10**6}, {"tuple": 5}, {"dict": [[1]]}, {"dict": [[[1], 2]]}, {"dict": {"a": 1}},
    {"dict": [[{"node": 0}, 1]]}, {"node": 0, "tuple": []}, {}, {"__class__": "x"}, {"pickle": "gASVAAAA"}, 10**4000,
    -(10**4000), {"foreign": "x", "erased": 1}, {"foreign": "", "erased": False}, {"dict": [[None, 1], [True, 2]]},
)  # fmt: skip


def forged(observation):
    for value in ODD:
        yield computing(observation, call("torch.add", ref(0), value))
        yield computing(observation, call("torch.zeros", [value]))
        yield computing(observation, call("operator.getitem", ref(0), value))
        yield computing(observation, {**call("torch.add"), "args": value})
        yield computing(observation, {**call("torch.add"), "kwargs": value})
