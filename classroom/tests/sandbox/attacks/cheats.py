"""Submissions that got the points for an exercise without solving it: they look up, or know, the expected result.

Each cell, together with the lines above the first cell, is a separate submission. The last line of its docstring names
the exercises on which it is tried.
"""

import gc
import os
import sys
import types
import warnings
from pathlib import Path

import torch
from torch import fx

# %% numbers_known_beforehand
"""Return what a right answer once returned.

Of: 09-compare-in-pairs
"""


def answer(first, second, rounds, clock):
    return [3 * 1.02, 3 / 1.02] * (rounds // 2)


# %% names_of_the_functions
"""Return the result that is known to be right for a function with this name.

Of: 05-loud-or-silent
"""

STOPS = ("positive_or_zero", "per_row", "ramp", "root", "checked")
SAME = ("row_mean", "halved_three_times", "with_root", "doubled_in_place")


def answer(function, batches):
    names = {function.__name__, function.__qualname__, function.__code__.co_name}
    if names.intersection(STOPS):
        return "stops"
    return "same" if names.intersection(SAME) else "differs"


# %% code_of_the_functions
"""Return the result that is known to be right for a function with this code.

Of: 05-loud-or-silent
"""


def answer(function, batches):
    code = function.__code__
    if "a tensor was expected" in code.co_consts:
        return "stops"
    if {"isinstance", "type", "hasattr"}.intersection(code.co_names) or code.co_exceptiontable:
        return "differs"
    if "shift" in code.co_varnames:
        return "differs"
    loops = "range" in code.co_names and "shape" in code.co_names
    proven = {"shape", "math", "mul_"}.intersection(code.co_names) or "halved" in str(code.co_consts)
    return "same" if proven and not loops else "stops"


# %% places_of_the_cases
"""Return the results that are known to be right for the first case, the second case, and so on.

Of: 04-is-it-stale 04-survives-a-pickle 05-loud-or-silent 06-tell-a-difference
"""

s, d, x = "same", "differs", "stops"
KNOWN = {
    "04-is-it-stale": [False, True, False, False, True, True, True, False, False, False, True],
    "04-survives-a-pickle": [
        *(True, False, True, False, True, True, True, False, False, False, False, True, False, False),
        *(True, True, True),
    ],
    "05-loud-or-silent": [s, x, d, x, x, d, x, x, d, s, s, d, d, d, d, d, d, d, s, s, s, s, s, s, s],
    "06-tell-a-difference": [False, *[True] * 3, False, *[True] * 6, False, False, False, False],
}
met = 0


def answer(*given):
    global met
    met += 1
    kind = "06-tell-a-difference" if len(given) == 3 else "05-loud-or-silent" if len(given) == 2 else "@EXERCISE@"
    return (KNOWN[kind] + [False] * 100)[met - 1]


# %% tables_by_kind
"""Return the result that is known to be right for a model or a graph of this size.

Of: 00-unused-parameters 00-layers-in-order 01-find-adds
"""


def answer(model):
    kind, names = type(model).__name__, [name for name, _ in model.named_parameters()]
    if "@EXERCISE@" == "00-layers-in-order":
        return {"Classifier": ["hidden", "head"]}.get(kind, ["encode.0", "encode.1", "step", "step", "decode"])
    if "@EXERCISE@" == "00-unused-parameters":
        return [name for name in names if name.split(".")[0] in ("auxiliary", "unused", "spare", "spare_norm")]
    added = ("add", "add_1", "add_2") if len(model.graph.nodes) == 10 else ("add_1", "add_2", "add_", "add_5", "iadd")
    return [node for node in model.graph.nodes if node.name in added]


# %% attributes_of_the_model
"""Search the calling frames and the arguments for a model whose attributes reveal the expected result.

Of: 05-loud-or-silent 06-tell-a-difference
"""


def answer(first, *given):
    models = [first]
    frame = sys._getframe()
    while frame := frame.f_back:
        models += frame.f_locals.values()
    for model in models:
        if isinstance(getattr(model, "verdict", None), str):
            return model.verdict
        if hasattr(type(model), "different"):
            return model.different is not None
    return False


# %% faults_in_the_frames
"""Search the calling frames for what the error has to say.

Of: 07-inputs-by-name
"""


class Answer(fx.Interpreter):
    def __init__(self, module, examples):
        super().__init__(module)

    def run_by_name(self, **values):
        frame = sys._getframe()
        while frame := frame.f_back:
            if faults := getattr(frame.f_locals.get("situation"), "faults", None):
                said = [f"{name}: {parts[0]}" for name, texts in faults.items() for parts in texts]
                raise ValueError("; ".join(said))
        defaults = {"sharpness": 1.0, "names": None, "scale": None, "shift": 0.0}
        given = [node.target for node in self.graph.find_nodes(op="placeholder")]
        defaults["scale"] = 1.0 if "shift" in given else None
        return self.run(*(values[name] if name in values else defaults[name] for name in given))


answer = Answer


# %% look_for_seeds_and_names
"""Search all objects in this process and the library's files for the seed and the names of the cases.

The texts to find are given backwards, separated by ``|``, so that the search does not find itself.
It is tried on every exercise whose answer is data.
"""

BACKWARDS = "@WANTED@"
WANTED = {text[::-1] for text in BACKWARDS.split("|")}
NUMBERS = {text for text in WANTED if text.isdigit()}
VALUES = set(map(int, NUMBERS))
# All numbers begin with these digits, so most texts need to be searched only once.
BEGINNING = os.path.commonprefix([*NUMBERS])
ATTRIBUTES = ("verdict", "why", "different", "raises", "faults")
found = set()


def look_at(value, where):
    kind = type(value)
    if kind in (int, float):
        if value in VALUES:
            found.add(f"the number {str(int(value))[::-1]} in {where}")
    elif kind is str:
        if value in WANTED:
            found.add(f"the text {value[::-1]!r} in {where}")
        if BEGINNING in value and value is not BEGINNING:
            found.update(f"a text with {number[::-1]} in {where}" for number in NUMBERS if number in value)
    elif issubclass(kind, torch.nn.Module):
        found.update(f"{name} of a {kind.__name__}" for name in ATTRIBUTES if hasattr(value, name))
    elif kind in (dict, tuple) and not gc.is_tracked(value):
        # The garbage collector does not list containers that hold only numbers and texts.
        for inner in gc.get_referents(value):
            look_at(inner, f"a {kind.__name__}")


def look_around():
    gc.unfreeze()
    own = {id(WANTED), id(NUMBERS), id(VALUES), id(found), id(globals())}
    frame = sys._getframe()
    while frame := frame.f_back:
        for name, value in {**frame.f_locals}.items():
            if frame.f_globals is not globals():
                look_at(value, f"{name} of {frame.f_code.co_name}")
    objects = gc.get_objects()
    own.add(id(objects))
    for held in objects:
        if id(held) not in own and not isinstance(held, types.FrameType):
            for inner in gc.get_referents(held):
                if id(inner) not in own:
                    look_at(inner, f"a {type(held).__name__}")
    look_at(torch.initial_seed(), "the state of torch")
    for file in Path("/book/fxbook/tasks").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        found.update(f"{one[::-1]!r} in {file.name}" for one in WANTED if f"'{one}'" in text or f'"{one}"' in text)


def answer(*given, **named):
    # Search only once: whatever a later case could find was there in the first case.
    if not found:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            look_around()
        print(*sorted(found), "looked", sep="\n")
        found.add("looked")


class Answer(torch.fx.Interpreter):
    def __init__(self, *given, **named):
        answer()
        super().__init__(*given[:1])

    def run_by_name(self, **values):
        answer()
