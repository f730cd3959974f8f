"""Graphs as plain data: recorded, named for readers, compared with an earlier state, described for rebuilding."""
