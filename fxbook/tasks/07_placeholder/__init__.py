"""Exercises of chapter 07: feed a graph its inputs, by position, by name and while it runs."""

ORDER = (
    "must_be_passed",
    "add_an_offset",
    "store_an_input",
    "inject_constants",
    "where_nan_begins",
    "inputs_by_name",
)
