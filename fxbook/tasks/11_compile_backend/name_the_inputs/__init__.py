"""Name the inputs of the graph that a backend gets."""
