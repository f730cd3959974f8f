"""Exercises of chapter 13: lower a graph, and find out what the new graph still knows about the old one."""

ORDER = (
    "name_the_weights",
    "count_what_it_became",
    "correct_the_shapes",
    "promise_the_result",
)
