"""Fill cells with programs on which Python's compiler, and the search for names, take long or overflow.

Harm: the reader crashes or never ends.
"""

import json

SOURCES = (
    "(" * 100_000,
    "-" * 1_000_000 + "1",
    "x" + ".x" * 100_000,
    "x" + "[0]" * 50_000,
    "lambda: " * 20_000 + "0",
    "f'{" * 150 + "1",
)
SOURCES += (
    "def f():\n" + "".join(" " * depth + "if 1:\n" for depth in range(1, 99)) + " " * 99 + "x",
    "a=" * 100_000 + "1",
)
SOURCES += (
    "x = " + "9" * 1_000_000,
    "\\\n" * 500_000,
    "\0",
    "\ud800",
    "\x0c" * 100_000,
    "# coding: utf-7\n+AG8-",
    "{**" * 5000,
    "@" * 9999,
)
SOURCES += (
    "def put_in_order(x): pass\n" * 50_000,
    "put_in_order = 1\n" * 100_000,
    "%" * 100_000,
    "!" * 100_000,
    "?" * 100_000,
)
SOURCES += (
    "%%time\n" * 100_000,
    "x = " + "not " * 200_000 + "1",
    "match x:\n" + "  case [" * 5000,
    "global put_in_order\n" * 50_000,
)


def handed_in():
    for source in SOURCES:
        for sources in ([source], ["def put_in_order(x): helper", source] * 3):
            cells = [
                {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": s}
                for s in sources
            ]
            made = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}
            yield "x.ipynb", json.dumps(made).encode()
        yield "x.py", f"# %%\n{source}\n".encode("utf-8", "surrogatepass")
