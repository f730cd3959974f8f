"""Build a student's graph again from what was told of it: the graph, its modules and tensors, its values."""
