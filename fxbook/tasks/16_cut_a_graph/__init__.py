"""Exercises of chapter 16: cut a graph into parts, and put the results of the parts together."""

ORDER = (
    "what_crosses",
    "order_of_calls",
    "add_tied_gradients",
    "even_parts",
)
