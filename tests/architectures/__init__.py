"""The finished passes of the book on models from `transformers`: ``make prove ROOM=models``."""
