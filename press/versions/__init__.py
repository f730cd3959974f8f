"""The book on other versions of torch: their environments, the differences, and the notes for readers."""
