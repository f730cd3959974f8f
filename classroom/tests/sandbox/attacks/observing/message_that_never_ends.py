"""Raise an error whose message and class name run code that never ends.

Harm: it runs on, and the next one waits.
"""


class Endless(Exception):
    def __str__(self):
        while True:
            pass


raise Endless
