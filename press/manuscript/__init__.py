"""Read and check what authors write: notebooks, exercises, claims."""
