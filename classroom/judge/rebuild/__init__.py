"""Rebuild a student's graph from its description: the graph, its modules and tensors, and its values."""
