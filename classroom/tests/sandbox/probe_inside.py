"""A submission that looks through all that it finds of its process and of the library's files, for what it is told.

What it is to find is told to it backwards, so that it does not find itself, as texts with ``|`` between them.
"""

import gc
import os
import sys
import types
import warnings
from pathlib import Path

import torch

BACKWARDS = "@WANTED@"
WANTED = {text[::-1] for text in BACKWARDS.split("|")}
NUMBERS = {text for text in WANTED if text.isdigit()}
VALUES = set(map(int, NUMBERS))
# All numbers begin so: most texts are looked through once for all of them.
BEGINNING = os.path.commonprefix([*NUMBERS])  # noqa: RUF071  (of texts)
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
        # The collector does not list what holds nothing but numbers and texts.
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
    # Once: what a later case finds was there in the first one.
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
