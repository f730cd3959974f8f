"""A graph as plain data: recorded, named for readers, remembered before and after, described to be built again."""
