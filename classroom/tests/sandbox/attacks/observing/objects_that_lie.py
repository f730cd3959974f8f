"""Return objects that lie about their class, are equal to everything, and act when they are pickled or printed.

Harm: a lie is believed, or something of it runs where it is read, and makes a file.
"""

import os

ANSWERS = "no report"


class Liar(dict):
    __class__ = property(lambda self: list)

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __len__(self):
        return -1

    def __iter__(self):
        return iter(range(10**9))

    def __repr__(self):
        raise SystemExit

    def __reduce__(self):
        return os.system, ("touch /tmp/by-an-attack",)


class Text(str):
    def __len__(self):
        return 0


def paired(*given):
    return [Liar, Text("x" * 1000), lambda: 0, {Liar: 1}, (object(), 1j, {1, 2}), float("nan")]
