"""Raise an error whose message is huge, and no text that can be written.

Ends: Huge
"""


class Huge(Exception):
    def __str__(self):
        return "x" * (1 << 24) + "\ud800"


def paired(*given):
    raise Huge


raise Huge
