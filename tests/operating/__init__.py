"""What passes on transformers need to find in a graph: linear layers, attention, heads."""
