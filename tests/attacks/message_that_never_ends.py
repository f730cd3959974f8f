"""Raise an error whose message and class name run code that never ends.

Ends: time
"""


class Endless(Exception):
    def __str__(self):
        while True:
            pass


raise Endless
