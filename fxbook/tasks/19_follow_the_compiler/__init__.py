"""Exercises of chapter 19: find calls in Inductor's graphs, write a pass that its cache knows, go back to a line."""

ORDER = ()
