"""Exercises of chapter 19: find an operator in the compiler's graphs, and write a pass that its cache can recognize."""

ORDER = (
    "find_the_operator",
    "add_a_pass",
    "pass_with_a_uuid",
    "where_a_kernel_is_from",
)
