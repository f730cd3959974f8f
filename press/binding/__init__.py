"""The environment, its pins, and the book as HTML."""
