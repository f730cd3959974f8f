"""Set up the environment, pin its packages, and build the book as HTML."""
