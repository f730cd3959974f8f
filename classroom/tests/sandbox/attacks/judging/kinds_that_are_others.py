"""Say that a graph is a module, that a module is a graph, and that there is none beside one that is described.

Harm: what is described is not judged.
"""

from classroom.tests.sandbox.forging import BUILD, PASS, with_claims, with_wire

EXERCISES = (BUILD, PASS)


def forged(observation):
    for kind in (
        "Graph",
        "GraphModule",
        "Module",
        "None",
        "class Module",
        "PassResult",
        "tuple",
        "",
        "\0",
        "x" * 100_000,
    ):
        yield with_claims(observation, kind=kind)
        yield with_claims(observation, kind=kind, graph=None)
        yield with_claims(observation, kind=kind, wire=None)
        yield with_claims(observation, kind=kind, wire=[])
        yield with_wire(observation, lambda wire, said=kind: wire.update(kind=said))
        yield with_claims(observation, kind=kind, wire={"refused": 5})
        yield with_claims(observation, kind=kind, wire={"refused": ""}, outputs=None, run_error=None)
