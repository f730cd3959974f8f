"""Send text made for regular expressions that go back and forth: in messages, names, lint and printed lines.

Harm: the class waits for one answer.
"""

from classroom.tests.sandbox.forging import PASS, with_claims, with_wire

EXERCISES = (PASS,)
TEXTS = (
    "Node '" * 200_000,
    "a" * 1_000_000 + "!",
    " of" + " " * 1_000_000 + "x",
    "0x" * 500_000,
    " at 0x" * 200_000,
    "\n" * 1_000_000,
)
TEXTS += (
    "(((((" * 100_000,
    "_0" * 500_000,
    "a." * 500_000,
    "\t \t" * 300_000 + "x",
    "''\"" * 300_000,
    "\u0130" * 500_000,
)


def forged(observation):
    for text in TEXTS:
        yield {**observation, "problem": text}
        yield {**observation, "printed": text}
        yield {**observation, "replaced": [text, text]}
        yield with_claims(observation, kind=text, graph=None, wire=None)
        yield with_claims(observation, changes=[text])
        graph = observation["cases"][0]["graph"]
        for change in ({"lint": text}, {"nodes": [{**node, "name": text} for node in graph["nodes"][:1]]}):
            yield with_claims(observation, wire={"refused": text}, graph={**graph, **change})
        yield with_claims(observation, wire={"refused": "no"}, outputs=None, run_error=text, run_node=0)
        yield with_wire(observation, lambda wire, said=text: wire["nodes"][1].update(name=said, target=said))
