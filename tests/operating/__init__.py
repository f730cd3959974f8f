"""What passes on transformers need to know of a graph: its linear layers, its attention, its heads."""
