"""The interface of the sandbox's rooms, which are modules in this package.

A room has three functions. ``get_ready(chapters)`` runs once, before any fork, and does the slow imports. In a fork,
``begin(task)`` prepares the teacher's part before any student data is present. ``work(prepared, payload, files)`` then
processes the student's part and returns JSON; ``files`` are readable descriptors.
"""

from __future__ import annotations


class NotBegunError(Exception):
    """The work cannot begin, through no fault of the student.

    Args:
        cause: ``"hidden"`` if the teacher's file of hidden variants is unusable, otherwise ``"refused"``.
    """

    def __init__(self, cause: str, why: str) -> None:
        super().__init__(why)
        self.cause = cause
