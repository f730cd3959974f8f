"""From manuscript to executed notebooks, the same bytes each time."""
