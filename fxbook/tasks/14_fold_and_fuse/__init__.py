"""Exercises of chapter 14: how far rounding may go, what can be folded, what is constant, and which calls are equal."""

ORDER = (
    "how_far_it_may_move",
    "which_norms_fold",
    "which_are_constant",
    "share_equal_calls",
)
