"""Exercises of chapter 15: operate on the layers of a transformer."""

ORDER = (
    "readers_of_a_weight",
    "int8_by_channel",
    "one_call_for_attention",
    "channels_of_a_head",
)
