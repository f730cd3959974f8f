"""Exercises of chapter 10: take a model as it comes."""

ORDER = (
    "plain_signature",
    "where_it_stops",
    "features_of_a_layer",
    "open_batch",
)
