"""Exercises of chapter 18: round a weight, and find the calls that can run in int8."""

ORDER = (
    "round_a_weight",
    "which_run_in_int8",
)
