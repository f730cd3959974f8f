"""From the manuscript to executed notebooks, always with the same bytes."""
