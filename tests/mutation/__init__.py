"""Mutation testing of the checks: right answers are made slightly wrong, and each check has to refuse them.

- :mod:`programs`: the printed solution and the right answers of an exercise, each as source that stands alone;
- :mod:`patterns`: code written as a pattern, found in a syntax tree and filled in again;
- :mod:`operators`: what is made wrong, each with a name;
- :mod:`mutants`: the mutants of a program, each known by its operator and the line that it changes;
- :mod:`trying`: a mutant put before the check, under several seeds;
- :mod:`listed`: the mutants that pass, each with its reason, in ``mutants.toml`` beside the exercise;
- :mod:`table`: what was made, and what became of it.

``python -m tests.mutation 00-readers`` (or ``00``) tries an exercise (or a chapter) and prints what passed.

The mutation tools for Python (mutmut, cosmic-ray) are commands that rewrite the files of a project and run its tests.
Neither offers its operators to other programs, and the mistakes that matter here are those of torch.fx and of learners.
"""
