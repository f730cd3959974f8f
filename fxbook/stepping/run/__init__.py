"""Step through a run: the values that are alive after each node, and their bytes."""
