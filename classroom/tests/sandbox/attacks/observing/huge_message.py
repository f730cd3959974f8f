"""Raise an error whose message is huge, and no text that can be written.

Harm: the grader runs out of memory, or writes a report that nobody can open.
"""


class Huge(Exception):
    def __str__(self):
        return "x" * (1 << 24) + "\ud800"


def paired(*given):
    raise Huge


raise Huge
