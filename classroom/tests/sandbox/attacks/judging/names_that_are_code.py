"""Put code into names, targets, paths and keys, which torch.fx writes into the program that it compiles.

Harm: the code runs as the grader.
"""

from classroom.tests.sandbox.forging import call, computing, method, node, placeholder, ref, with_wire

CODE = (
    "x=__import__('os').system('touch /tmp/by-an-attack')",
    "x\n    import os; os.system('touch /tmp/by-an-attack')\n    y",
    "x;import os",
    "x # comment",
    "x: __import__('os').abort()",
    "x, y=print()",
    "*x",
    "**x",
    "x\u2028import os",
    "x\rimport os",
    "x\x0cimport os",
    "\\\nx",
    "x\0y",
    "lambda: 0",
    "x if 1 else y",
    '"""',
    "f'{__import__(\"os\").abort()}'",
    "\uff58",
    "x\u0301",
    "yield",
    "await",
    "_print_",
)


def forged(observation):
    for code in CODE:
        for part in ("name", "target", "op"):
            for place in (0, 1, -1):
                yield with_wire(
                    observation, lambda wire, at=place, key=part, said=code: wire["nodes"][at].update({key: said})
                )
        yield computing(observation, call("torch.relu", ref(0), **{code: 1}))
        yield computing(observation, call("torch.relu", {"dict": [[code, ref(0)]]}))
        yield computing(observation, method(code, ref(0)))
        yield computing(observation, node("call_module", code, ref(0)))
        yield computing(observation, node("get_attr", f"weight.{code}"))
        yield computing(observation, call("torch.relu", {"foreign": code, "erased": True}))
        yield computing(observation, node("placeholder", code, name="y"))
        yield computing(observation, {**placeholder("y"), "args": {"tuple": [code]}})
