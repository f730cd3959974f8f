"""Forged observations that attack through their claims about the graph, its outputs and the answer.

Each function changes an observation and yields what is sent to the judge. Its docstring says what the attack tries and
what harm it would do.
"""

from classroom.tests.sandbox.forging import BUILD, COMPUTE, JSON, PASS, Forged, of, with_claims, with_wire
from fxbook import tasks

NOT_BUILT = {"refused": "no"}


@of(BUILD, PASS, COMPUTE)
def claims_of_every_type(observation: JSON) -> Forged:
    """Put values of every JSON type in place of each claim, leave out each part, and add parts that no observation has.

    Harm: the judge fails in a way that it does not catch, or believes the claim.
    """
    odd = (None, True, 0, -1, 1.5, "", "x", [], {}, [None], {"x": 1}, 10**300, float("nan"), float("inf"), "\ud800")
    for value in (*odd, [[]], [{}]):
        yield value
        for key in observation:
            yield {**observation, key: value}
        for key in observation["cases"][0]:
            if key != "value":
                yield with_claims(observation, wire=NOT_BUILT, **{key: value} if key != "wire" else {})
                yield with_claims(observation, **{key: value})
        yield {**observation, "cases": [value] * len(observation["cases"])}
        error = dict.fromkeys(("type", "message", "line", "number", "loading"), value)
        yield {**observation, "error": error}
    for key in observation:
        yield {name: held for name, held in observation.items() if name != key}
    for key in observation["cases"][0]:
        changed = with_claims(observation)
        for case in changed["cases"]:
            del case[key]
        yield changed
    yield {**observation, "passed": True, "violation": None, "rule": "", "unproven": [], "__class__": "Verdict"}
    yield with_claims(observation, passed=True, expected=[], case=None, exercise=None, seed=1, model=None)
    for cases in (observation["cases"][:1], [], observation["cases"] * 2, observation["cases"] * 10_000):
        yield {**observation, "cases": cases}
    yield {**observation, "exercise": "00-readers"}
    yield {**observation, "seed": True}


_FOR_A_TERMINAL = (
    "\x1b]0;owned\x07", "\x1b[2J", "\u202e\u2066right", "\ud800", "\udfff\ud800", "\0", "![x](http://127.0.0.1/)",
    "</script><script>alert(1)</script>", "=cmd|' /C calc'!A0", "\r\nX-Header: 1", "\ufffe\uffff", "a\u0300" * 3000,
)  # fmt: skip
_FOR_A_PATTERN = (
    "Node '" * 200_000, "a" * 1_000_000 + "!", " of" + " " * 1_000_000 + "x", "0x" * 500_000, " at 0x" * 200_000,
    "\n" * 1_000_000, "(((((" * 100_000, "_0" * 500_000, "a." * 500_000, "\t \t" * 300_000 + "x", "\u0130" * 500_000,
)  # fmt: skip


@of(PASS)
def texts_for_reports(observation: JSON) -> Forged:
    """Send text that attacks terminals, browsers or backtracking patterns, in messages, names, lint and printed lines.

    Harm: a report shows something false or cannot be written, or the class has to wait for it.
    """
    record = observation["cases"][0]["graph"]
    for text in (*_FOR_A_TERMINAL, *_FOR_A_PATTERN):
        error = {"type": text, "message": text, "line": text, "number": 1, "loading": False}
        yield {**observation, "problem": text}
        yield {**observation, "cases": [], "error": error, "printed": text}
        yield {**observation, "replaced": [text, text]}
        yield with_claims(observation, changes=[text], kind=text)
        nodes = [{**node, "name": text, "call": text, "scope": text} for node in record["nodes"][:2]]
        yield with_claims(observation, wire={"refused": text}, graph={"nodes": nodes, "lint": text, "stale": False})
        yield with_claims(observation, wire=NOT_BUILT, outputs=None, run_error=text, run_node=0)
        yield with_wire(observation, lambda wire, said=text: wire["nodes"][1].update(name=said, target=said))
    yield with_claims(observation, changes=["x"] * 1_000_000)
    yield with_claims(observation, shared={str(at): None for at in range(200_000)})
    yield {**observation, "printed": "x" * 7_000_000}


_ANY = (
    None, True, -1, 10**300, 10**4000, "", "x" * 1_000_000, "\ud800\0", [], {}, {"dict": []}, {"set": []},
    {"float": "nan"}, {"float": "-1e308"}, {"float": "x"}, {"complex": ["nan", "nan"]}, {"function": "os.system"},
    {"dict": [["a", {"float": "nan"}]] * 1000}, {"dict": [[{"tuple": []}, {"tuple": []}]]}, {"dict": [[]]}, [[[[[]]]]],
    {"tensor": "float32", "shape": [2**62, 0], "data": []}, {"tensor": "qint8", "shape": [1], "data": [1]},
    {"tensor": "bool", "shape": [1], "data": [2]}, {"tensor": "x", "shape": [1], "data": [1]}, [None] * 100_000,
    {"tensor": "float32", "shape": [100_000], "data": [0.5] * 100_000}, [{"float": "0.5"}] * 100_000,
    {"dict": [[str(at), [at] * 30] for at in range(3000)]}, {"torch": "float32"},
)  # fmt: skip
_PART = (None, -1, 10**4000, {"float": "nan"}, "x" * 100_000, [], {"tensor": "int8", "shape": [0], "data": []})


@of(*(exercise.id for exercise in tasks.all_exercises() if exercise.usage.use == "compute"))
def values_for_every_check(observation: JSON) -> Forged:
    """For answers that return data, send values of every form, and the right value with each of its parts replaced.

    Harm: a check calls a value that it was sent, never finishes, or accepts a wrong value.
    """
    for value in _ANY:
        yield with_claims(observation, value=value)
    for odd in _PART:
        for at, case in enumerate(observation["cases"]):
            for value in _with_parts_replaced(case["value"], odd):
                changed = with_claims(observation)
                changed["cases"][at]["value"] = value
                yield changed


def _with_parts_replaced(value: JSON, odd: JSON) -> Forged:
    if isinstance(value, dict) and len(value) == 1:
        [(kind, inner)] = value.items()
        if kind == "dict":
            for at, (key, held) in enumerate(inner):
                yield {kind: [*inner[:at], [key, odd], *inner[at + 1 :]]}
                yield {kind: [*inner[:at], [odd, held], *inner[at + 1 :]]}
                for part in _with_parts_replaced(held, odd):
                    yield {kind: [*inner[:at], [key, part], *inner[at + 1 :]]}
        elif isinstance(inner, list):
            yield from ({kind: part} for part in _with_parts_replaced(inner, odd))
        else:
            yield {kind: odd}
    elif isinstance(value, list):
        yield from ([*value[:at], odd, *value[at + 1 :]] for at in range(len(value)))
