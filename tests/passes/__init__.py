"""Tests of the tools for writing passes: random graphs, invariants, differences, smaller graphs, bisection."""
