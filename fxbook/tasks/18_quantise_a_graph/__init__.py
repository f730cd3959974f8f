"""Exercises of chapter 18: round a weight, and find the calls that can run in int8 and those that can copy it."""

ORDER = (
    "round_a_weight",
    "which_run_in_int8",
    "cats_that_copy",
)
