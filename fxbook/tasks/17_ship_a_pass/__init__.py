"""Exercises of chapter 17: find what a pass broke, and write a pass that reports what it did."""

ORDER = (
    "where_they_part",
    "honest_pass",
    "first_bad_change",
    "shrink_it",
)
