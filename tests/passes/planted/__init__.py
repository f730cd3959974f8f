"""Faults planted in right passes, each with a model that does not hide it, and the invariant that notices it."""
