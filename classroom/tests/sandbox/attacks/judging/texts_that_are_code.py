"""Pass texts with quotes, breaks and code as arguments, whose `repr` becomes part of a program.

Harm: the text ends, and what follows it runs.
"""

from classroom.tests.sandbox.forging import call, computing, ref

TEXTS = (
    "'",
    '"',
    "'''",
    '"""',
    "\\",
    "\\'",
    "\n",
    "\r",
    "\u2028",
    "\x85",
    "\0",
    "\x1a",
    "{x}",
    "%s",
    "')\nimport os\n('",
)
TEXTS += (
    "\ud800",
    "\udcff",
    "\U0010ffff",
    "\u202e",
    "\ufeff",
    "# type: ignore",
    "\x1b[2J",
    "<script>alert(1)</script>",
    "\b" * 99,
)


def forged(observation):
    for text in TEXTS:
        yield computing(observation, call("torch.relu", text))
        yield computing(observation, call("builtins.len", [text, (text, {"dict": [[text, text]]})]))
        yield computing(observation, call("torch._assert", False, text))
        yield computing(observation, call("builtins.getattr", ref(0), "shape", text))
        yield computing(observation, call("torch.einsum", text, ref(0)))
        yield computing(observation, call("builtins.float", text))
        yield computing(observation, call("builtins.int", text * 5000))
