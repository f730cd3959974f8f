"""Zero, in place, the inputs and every weight and list of the model, and return what is left.

Harm: the check compares with what the graph has changed.
"""

from classroom.tests.sandbox.forging import call, method, node, output, placeholder, ref, with_graph
from fxbook import tasks

EXERCISES = tuple(
    exercise.id
    for exercise in tasks.all_exercises()
    if exercise.use != "compute" and exercise.id != "05-choose-without-if"
)


def forged(observation):
    names = [entry["name"] for entry in observation["cases"][0]["wire"]["nodes"] if entry["op"] == "placeholder"]
    inputs = [placeholder(name) for name in names]
    zeroed = [method("zero_", ref(place)) for place in range(len(names))]
    yield with_graph(observation, *inputs, *zeroed, output(ref(len(inputs))))
    filled = [call("operator.setitem", ref(place), ..., 0) for place in range(len(names))]
    yield with_graph(observation, *inputs, *filled, output(ref(0)))
    for name in sorted({held for case in observation["cases"] for held in case["shared"]})[:3]:
        weight = node("get_attr", name)
        nulled = method("mul_", ref(len(inputs)), 0)
        yield with_graph(observation, *inputs, weight, nulled, output(ref(0)))
