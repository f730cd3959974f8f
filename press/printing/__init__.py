"""From manuscript to executed notebooks, always the same bytes."""
