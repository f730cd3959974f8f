"""Exercises of chapter 09: measure a graph node by node, and act on what was measured."""

ORDER = (
    "time_each_node",
    "flops_by_module",
    "bytes_alive",
    "compare_in_pairs",
    "show_the_gain",
    "find_the_bottleneck",
)
