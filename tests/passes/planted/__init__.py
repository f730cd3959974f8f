"""Faults planted in right passes, each with a model that exposes it and the invariant that detects it."""
