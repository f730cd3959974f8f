"""Exercises of chapter 05: find what tracing cannot see, and four ways around it."""

ORDER = (
    "choose_without_if",
    "loud_or_silent",
    "fix_the_argument",
    "wrap_the_loop",
    "keep_a_module_whole",
    "unroll_the_loop",
)
