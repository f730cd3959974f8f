"""Mutation testing of the checks: solutions are made slightly wrong, and each check has to refuse most of them.

- :mod:`programs`: the printed solution of an exercise as source that stands alone;
- :mod:`patterns`: code written as a pattern, found in a syntax tree and filled in again;
- :mod:`operators`: what is made wrong, each with a name;
- :mod:`mutants`: the mutants of a program;
- :mod:`trying`: a mutant put before the check;
- :mod:`report`: what was made, and what became of it.

``python -m tests.mutation 00-readers`` (or ``00``) tries an exercise (or a chapter) and prints what survived. A
survivor is right too, or shows what the check does not see: a person decides, and no list of them is kept.

The mutation tools for Python (mutmut, cosmic-ray) are commands that rewrite the files of a project and run its tests.
Neither offers its operators to other programs, and the mistakes that matter here are those of torch.fx and of learners.
"""
