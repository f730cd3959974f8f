"""Forged observations that attack through their claims about the graph, its outputs and the answer.

Each function changes an observation and yields what is sent to the judge. Its docstring says what the attack tries and
what harm it would do.
"""

import itertools

from classroom.tests.sandbox.forging import BUILD, COMPUTE, JSON, PASS, Forged, of, truth, with_claims, with_wire
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


@of(BUILD, PASS)
def claims_that_contradict(observation: JSON) -> Forged:
    """Claim that a graph is a module, that it was and was not compiled, that the check failed; name absent nodes.

    Harm: the described graph is not judged, an error does not count, or an index out of range is used.
    """
    for kind in ("Graph", "GraphModule", "Module", "None", "PassResult", "tuple", "", "\0", "x" * 100_000):
        for parts in ({}, {"graph": None}, {"wire": None}, {"wire": []}, {"wire": {"refused": 5}}):
            yield with_claims(observation, kind=kind, **parts)
        yield with_claims(observation, kind=kind, wire={"refused": ""}, outputs=None, run_error=None)
        yield with_wire(observation, lambda wire, said=kind: wire.update(kind=said))
    for key in observation["cases"][0]["wire"]:
        yield with_wire(observation, lambda wire, name=key: wire.pop(name))
    for key in observation["cases"][0]["wire"]["nodes"][0]:
        yield with_wire(observation, lambda wire, name=key: [node.pop(name) for node in wire["nodes"]])
    time_up = {"type": "TimeUp", "message": "x", "line": None, "loading": True}
    errors = ({}, [], "x", 0, False, [[]], 10**300, {"type": None}, time_up, {**time_up, "own": True})
    for error in (*errors, {**time_up, "type": "AttributeError", "loading": False, "own": True}):
        for cases in (observation["cases"], observation["cases"][:1], []):
            yield {**observation, "error": error, "replaced": ["torch.add"], "cases": cases}
            yield {**observation, "problem": error, "cases": cases}
            yield {**observation, "replaced": error, "cases": cases}
        yield with_claims(observation, run_error=error, outputs=None)
    for stale in (True, 1, "true", [], {}, None, "false"):
        graph = {**(observation["cases"][0]["graph"] or {}), "stale": stale}
        yield with_claims(observation, graph=graph)
        yield with_claims(observation, graph={**graph, "nodes": []})
    count = len(observation["cases"][0]["origins"])
    for place in (-1, -(2**63), 2**63, 10**300, True, 0.0, "0", [0], {"node": 0}, 99):
        yield with_claims(observation, origins=[place] * count)
        yield with_claims(observation, wire=NOT_BUILT, origins=[place] * count)
        yield with_claims(observation, run_node=place, run_error="RuntimeError: x", outputs=None, wire=NOT_BUILT)
        yield with_claims(observation, shared={"0.weight": place}, modules=[place])
        yield with_claims(observation, same_object=place)
    for length in (0, 1, count - 1, count + 1, 1_000_000):
        yield with_claims(observation, origins=[0] * length)
        yield with_claims(observation, wire=NOT_BUILT, origins=[0] * length)


@of(PASS)
def right_but_never_compiled(observation: JSON) -> Forged:
    """Send a right graph that was never compiled, so that the student's module still runs the old code.

    Harm: the rebuilt module is compiled and right, although the student's module is not.
    """
    claimed = with_claims(truth(PASS))
    for case in claimed["cases"]:
        case["graph"]["stale"] = True
    yield claimed


def graph_of_the_record_alone(observation: JSON) -> Forged:
    """Send a graph that is not rebuilt, with a record whose nodes have invalid forms.

    Harm: the judge fails in a way that it does not catch, or draws the invalid nodes.
    """
    odd = (None, -1, 10**300, 1.5, "", "x" * 100_000, "\ud800", "\0", [], [[]], {}, {"tuple": 5}, {"node": -1})
    graph = observation["cases"][0]["graph"]
    for key, value in itertools.product(graph["nodes"][0], (*odd, [10**9], True)):
        nodes = [{**node, key: value} for node in graph["nodes"]]
        yield with_claims(observation, wire=NOT_BUILT, graph={**graph, "nodes": nodes})
    for key, value in itertools.product(("lint", "stale", "nodes", "more"), (*odd, "Node " + "'" * 100_000)):
        yield with_claims(observation, wire=NOT_BUILT, graph={**graph, key: value})


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


_DTYPES = ("float32", "bool", "qint8", "quint4x2", "bits16", "complex32", "float4_e2m1fn_x2", "int1")
_SHAPES = ([1], [0], [2**62, 0], [2**63], [2**100], [1] * 100, [True], [-1], [0, -1])
_DATA = (None, [], [1.0], [True], [2**63], [[1.0, 2.0]], [float("nan")], ["x"], [1e308])
_VALUES = (
    {"float": "1e999"}, {"float": "9" * 1_000_000}, {"float": "nan"}, {"complex": ["x", "y"]}, {"dict": []},
    {"dict": [["a", 1]] * 10_000}, {"dict": [[{"dict": []}, 1]]}, {"set": [{"set": []}]}, {"torch": "\0"}, 10**4000,
    {"function": "os.system"}, {"opaque": "x" * 1_000_000}, {"tuple": [None] * 1_000_000}, "x" * 5_000_000,
)  # fmt: skip


def outputs_that_are_no_values(observation: JSON) -> Forged:
    """Claim outputs of a graph that is not rebuilt: inconsistent tensors, values that are not numbers, huge sizes.

    Harm: reading them crashes torch in the judge, or uses up its time or memory.
    """
    tensors = ({"tensor": d, "shape": s, "data": v} for d, s, v in itertools.product(_DTYPES, _SHAPES, _DATA))
    sizes = [10**digits - 1 for digits in (2_900, 3_000, 6)]
    endless = [{"tensor": "float32", "shape": [size] * (7_000_000 // len(str(size))), "data": []} for size in sizes]
    for value in (*tensors, *endless, *_VALUES):
        yield with_claims(observation, wire=NOT_BUILT, outputs=[value, value], run_error=None)
    for depth in (149, 900, 100_000):
        deep: JSON = 0
        for _ in range(depth):
            deep = [deep]
        for claim in ({"value": deep}, {"outputs": deep}, {"graph": {"nodes": [], "lint": deep, "stale": False}}):
            # Such deeply nested values cannot be copied.
            changed = with_claims(observation)
            for case in changed["cases"]:
                case.update(claim)
            yield changed
        yield deep


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
