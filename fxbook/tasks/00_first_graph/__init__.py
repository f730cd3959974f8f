"""Exercises of chapter 00: read the nodes of a graph, and change what one of them calls."""

ORDER = ("layers_in_order", "readers", "swap_targets", "unused_parameters", "relu_to_gelu")
