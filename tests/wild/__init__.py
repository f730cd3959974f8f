"""Faults that the tools of the book found in passes of other packages: ``make prove ROOM=models``."""
