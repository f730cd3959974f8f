"""The tools for one's own passes: random graphs, what a pass must keep, differences, smaller graphs, bisection."""
