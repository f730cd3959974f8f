"""Say of a graph both that its module was compiled and that it was not, in odd words.

Harm: what was rebuilt is compiled and right, while what runs is not.
"""

from classroom.tests.sandbox.forging import PASS, truth, with_claims

EXERCISES = (PASS,)


def forged(observation):
    right = truth(PASS)
    for stale in (True, 1, "true", "True", [], {}, None, [True], "false"):
        graph = {**observation["cases"][0]["graph"], "stale": stale}
        yield with_claims(observation, graph=graph)
        yield with_claims(observation, graph={**graph, "nodes": []})
        # The graph is right, and was never compiled: what runs is the model as it was.
        if stale is True:
            claimed = with_claims(right)
            for case in claimed["cases"]:
                case["graph"]["stale"] = True
            yield claimed
