"""Let thousands of cells need each other, in circles and in chains.

Harm: the search for the cells that an answer needs overflows or never ends.
"""

import json


def handed_in():
    for count in (900, 3000):
        chain = [f"def f{at}(): return f{at + 1}()" for at in range(count)]
        circle = [*chain, f"def f{count}(): return put_in_order()"]
        every = [
            f"f{at} = lambda: ({', '.join(f'f{other}' for other in range(0, count, 7))})" for at in range(count // 3)
        ]
        for sources in (chain, circle, chain[::-1], every):
            all_of_them = ["def put_in_order(x): return f0()", *sources]
            cells = [
                {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": s}
                for s in all_of_them
            ]
            made = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}
            yield "x.ipynb", json.dumps(made).encode()
