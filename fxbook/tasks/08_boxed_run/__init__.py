"""Exercises of chapter 08: know how long each value lives, and let memory go."""

ORDER = (
    "last_readers",
    "let_inputs_go",
    "where_it_failed",
    "must_be_alive",
    "alive_without_need",
    "free_early",
)
