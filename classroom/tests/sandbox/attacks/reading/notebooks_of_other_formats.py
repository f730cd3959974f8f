"""Say that a notebook is of a format that is old, new, or none, so that its reader converts it.

Harm: a converter runs what it should not, or never ends.
"""

import json

CELLS = (
    {},
    {"cell_type": "code"},
    {"cell_type": "code", "source": 5},
    {"cell_type": "code", "source": [1, None]},
    [],
    None,
    "x",
)
CELLS += ({"cell_type": "code", "source": ["x"] * 100_000, "outputs": [{}]}, {"cell_type": "heading", "level": 10**300})
CELLS += ({"cell_type": "code", "input": "x = 1", "language": "bash", "prompt_number": "y"}, {"cell_type": ["code"]})


def handed_in():
    for major in (-1, 0, 1, 2, 3, 4, 5, 10**300, "4", None, True, [], 4.5):
        for minor in (0, 5, 99, -1, "x"):
            made = {"nbformat": major, "nbformat_minor": minor, "metadata": {"jupytext": {"formats": "py:marimo"}}}
            for cell in CELLS:
                yield "x.ipynb", json.dumps({**made, "cells": [cell], "worksheets": [{"cells": [cell]}]}).encode()
