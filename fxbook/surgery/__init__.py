"""What chapters 12 to 15 cut with: patterns, retraces, what a call does and may share, its arguments and weights."""
