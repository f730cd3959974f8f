"""Put control characters, directions, halves of characters and markup into every text that a report shows.

Harm: a report or a terminal shows something else than what is there, or cannot be written.
"""

from classroom.tests.sandbox.forging import with_claims

TEXTS = (
    "\x1b]0;owned\x07",
    "\x1b[2J",
    "\u202e\u2066right",
    "\ud800",
    "\udfff\ud800",
    "\0",
    "</script><script>alert(1)</script>",
)
TEXTS += (
    "![x](http://127.0.0.1/)",
    "=cmd|' /C calc'!A0",
    "\r\nX-Header: 1",
    "\ufffe\uffff",
    "a\u0300" * 3000,
    "\U000e0041" * 3000,
)


def forged(observation):
    for text in TEXTS:
        yield {**observation, "problem": text}
        error = {"type": text, "message": text, "line": text, "number": 1, "loading": False}
        yield {**observation, "cases": [], "error": error, "printed": text}
        yield {**observation, "replaced": [text]}
        yield with_claims(observation, changes=[text], kind=text)
        nodes = [
            {**node, "name": text, "call": text, "scope": text} for node in observation["cases"][0]["graph"]["nodes"]
        ]
        yield with_claims(observation, wire={"refused": text}, graph={"nodes": nodes, "lint": text, "stale": False})
        yield with_claims(observation, wire={"refused": text})
