"""Run the book's finished passes on models from `transformers`: ``make prove ROOM=models``."""
