"""Nest JSON, or name a key so often, that its reader overflows or never ends.

Harm: the reader's stack overflows, or it takes all time or memory.
"""


def handed_in():
    for depth in (500, 990, 5_000, 3_000_000):
        yield "x.ipynb", b'{"nbformat": 4, "cells": ' + b"[" * depth + b"]" * depth + b"}"
        yield "x.ipynb", b'{"nbformat": 4, "metadata": ' + b'{"a":' * depth + b"1" + b"}" * depth + b', "cells": []}'
    yield "x.ipynb", b"{" + b'"cells": [],' * 500_000 + b'"nbformat": 4, "nbformat_minor": 5, "metadata": {}}'
    yield "x.ipynb", b'{"nbformat": ' + b"9" * 1_000_000 + b"}"
    yield "x.ipynb", b'{"nbformat": 4, "nbformat_minor": -1e999, "cells": NaN, "metadata": {}}'
    yield "x.ipynb", b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [' + b"{}," * 1_000_000 + b"{}]}"
    yield "x.ipynb", b'{"a": "' + b"\\ud800" * 500_000 + b'"}'
