"""What the rooms of the sandbox have in common: each is a module beside this one, and does one thing with each request.

A room has three functions. ``get_ready(chapters)`` runs once, before any fork: it imports what takes long. In a fork,
``begin(task)`` prepares what a teacher asks for, before anything of a student's is there; ``work(prepared, payload,
files)`` then takes what the student made, and returns JSON. ``files`` are descriptors that may be read.
"""

from __future__ import annotations


class NotBegunError(Exception):
    """The work cannot begin, through no fault of a student's.

    Args:
        cause: ``"hidden"`` where the teacher's file of hidden variants cannot be used, else ``"refused"``.
        why: in words.
    """

    def __init__(self, cause: str, why: str) -> None:
        super().__init__(why)
        self.cause = cause
