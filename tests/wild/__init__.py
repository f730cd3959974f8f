"""Faults that the book's tools found in passes of other packages: ``make prove ROOM=models``."""
