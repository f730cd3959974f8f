"""The names that a grader imports from the library: exercises, sheets, and the two halves of a check.

Each is documented where it is defined.
"""

import importlib

_MODULES = {"forked": "fxbook.observing.forked", "sheets": "fxbook.learning.sheets", "tasks": "fxbook.tasks"}
_DEFINED_IN = {
    "fxbook.catalogue": "SHEETS About catalogue numbered place unknown",
    "fxbook.learning.sheets": "Sheet",
    "fxbook.learning.cells": "parsed",
    "fxbook.cases.exercise": "Case Exercise model_of",
    "fxbook.rules.rule": "Violation",
    "fxbook.rules.trial": "Trial trials_of",
    "fxbook.cases.values": "Value",
    "fxbook.observing.forked": "Outcome",
    "fxbook.observing.prepare": "Prepared prepare weights_of",
    "fxbook.observing.observe": "observe observe_graph observe_inside",
    "fxbook.observing.observation": "CaseFacts UnreadableObservationError read_observation",
    "fxbook.checking.judge": "CHECK_WORKS Verdict judge judge_facts own_error",
    "fxbook.observing.quick_errors": "quick_errors",
}
_OTHERWISE = {"read_observation": "read", "UnreadableObservationError": "UnreadableError"}
HOME = {**_MODULES, **{name: module for module, names in _DEFINED_IN.items() for name in names.split()}}
__all__ = sorted(HOME)


def __getattr__(name: str) -> object:
    """Import on first use: part of a sandbox has only some of the modules, and reading a title needs no torch."""
    if name not in HOME:
        raise AttributeError(f"module 'fxbook.grading' has no attribute {name!r}")
    module = importlib.import_module(HOME[name])
    return module if name in _MODULES else getattr(module, _OTHERWISE.get(name, name))
