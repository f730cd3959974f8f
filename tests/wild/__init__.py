"""Faults that the book's tools found in passes from other packages: ``make prove ROOM=models``."""
