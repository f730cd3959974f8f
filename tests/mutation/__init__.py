"""Mutation testing of the checks: most slightly wrong versions of a solution must be rejected.

- :mod:`programs`: the book's solution of an exercise as a standalone program;
- :mod:`patterns`: code patterns that match syntax trees and can be filled in;
- :mod:`operators`: the named mutations;
- :mod:`mutants`: the mutants of a program;
- :mod:`trying`: run the check on a mutant;
- :mod:`report`: the mutants and their results.

``python -m tests.mutation 00-readers`` (or ``00``) tries an exercise (or a chapter) and prints the survivors. Either a
survivor is also right, or it shows a gap in the check: a person decides, and no list is kept.

Python's mutation tools (mutmut, cosmic-ray) are commands that rewrite a project's files and run its tests. They do not
offer their operators to other programs, and the mistakes that matter here are those of torch.fx and of learners.
"""
