"""What chapters 03, 05 and 12 to 15 cut and prove with.

Finding and replacing ReLU, comparing a trace with its model, patterns, retraces, what a call does and may share, its
arguments and weights.
"""
