"""``python -m fxbook watch``: work through the exercises in a terminal; a sheet is checked as soon as you save it."""

from fxbook.learning.watching.loop import watch

__all__ = ["watch"]
