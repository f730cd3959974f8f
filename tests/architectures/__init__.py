"""The finished passes of the book on models that nobody here wrote: ``make prove ROOM=models``."""
