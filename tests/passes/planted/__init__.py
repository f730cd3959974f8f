"""Faults planted in correct passes, each with a model that exposes it and the invariant that detects it."""
