"""Exercises of chapter 06: find and change the arguments of a call, by position and by name."""

ORDER = (
    "find_the_dim",
    "keep_the_dims",
    "leave_out_defaults",
    "one_more_in_the_list",
    "tell_a_difference",
    "in_place_where_safe",
)
