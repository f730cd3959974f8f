"""Generate executed notebooks from the manuscript, always with the same bytes."""
