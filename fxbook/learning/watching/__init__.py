"""``python -m fxbook watch``: work through the exercises in a terminal; each save of a sheet is checked at once."""

from fxbook.learning.watching.loop import watch

__all__ = ["watch"]
