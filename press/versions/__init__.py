"""The book on other versions of torch: an environment for each, what differs there, and what a reader is told of it."""
