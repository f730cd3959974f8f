"""Exercises of chapter 02: choose where a new node lands, and which nodes use it."""

ORDER = (
    "clamp_the_output",
    "chain_behind_a_node",
    "halve_the_skip",
    "put_in_order",
    "round_every_function",
    "activation_after_linear",
)
