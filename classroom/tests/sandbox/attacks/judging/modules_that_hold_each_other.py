"""Let modules hold themselves, each other and so often that there are more paths than can be counted.

Harm: the judge walks them without end.
"""

from classroom.tests.sandbox.forging import PASS, full, with_wire

EXERCISES = (PASS,)


def forged(observation):
    sequential = {"class": "torch.nn.Sequential"}
    for height, copies in ((40, 2), (99, 2), (99, 1), (300, 1), (1500, 1), (14, 3), (1, 1500)):
        tower = [full(**sequential, children={str(at): place + 2 for at in range(copies)}) for place in range(height)]
        tower.append(full(**{"class": "torch.nn.ReLU"}))
        root = full(**{"class": "torch.fx.GraphModule"}, children={"0": 1})
        yield with_wire(observation, lambda wire, all_=[root, *tower]: wire.update(modules=all_))
    for place in (0, 1, 2, -1, 10**300, True, "1", None, 1.0):
        ring = [full(**{"class": "torch.fx.GraphModule"}, children={"0": 1}), full(**sequential, children={"0": place})]
        yield with_wire(observation, lambda wire, all_=ring: wire.update(modules=all_))
    for first in (
        {"given": ""},
        {"given": "0"},
        {"like": ""},
        {"like": "0"},
        {"class": "torch.nn.Module"},
        {},
        None,
        5,
    ):
        yield with_wire(observation, lambda wire, one=first: wire.update(modules=[one, full(given="0")]))
        twice = [full(**{"class": "torch.fx.GraphModule"}, children={"0": 1, "1": 2}), first, first]
        yield with_wire(observation, lambda wire, all_=twice: wire.update(modules=all_))
