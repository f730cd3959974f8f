"""Exercises of chapter 12: match patterns, and replace what they match."""

ORDER = (
    "fuse_gelu",
    "every_eps",
    "layers_of_one_input",
    "refuse_writes",
)
