"""What chapters 14 and 15 cut with: what a call does and may share, its arguments, its weights, and its attention."""
