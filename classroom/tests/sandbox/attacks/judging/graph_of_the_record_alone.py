"""Send a graph that is not rebuilt, and a record of it whose nodes are of any form.

Harm: the judge fails in a way that it does not catch, or draws what it was sent.
"""

from classroom.tests.sandbox.forging import with_claims

ODD = (
    None,
    -1,
    10**300,
    1.5,
    "",
    "x" * 100_000,
    "\ud800",
    "\0",
    "\u202e",
    [],
    [[]],
    {},
    {"tuple": 5},
    {"node": -1},
    [10**9],
    True,
)


def forged(observation):
    graph = observation["cases"][0]["graph"]
    for key in graph["nodes"][0]:
        for value in ODD:
            nodes = [{**node, key: value} for node in graph["nodes"]]
            yield with_claims(observation, wire={"refused": "no"}, graph={**graph, "nodes": nodes})
    for key in ("lint", "stale", "nodes", "more"):
        for value in (*ODD, "Node " + "'" * 100_000, graph["nodes"] * 3):
            yield with_claims(observation, wire={"refused": "no"}, graph={**graph, key: value})
