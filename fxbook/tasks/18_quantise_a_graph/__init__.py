"""Exercises of chapter 18: round a weight, find calls that run in int8 or copy it, and drop useless pairs."""

ORDER = (
    "round_a_weight",
    "which_run_in_int8",
    "cats_that_copy",
    "drop_the_detour",
)
