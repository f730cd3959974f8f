"""Use an answer and record what it did as plain data: the half of a check that runs the learner's code.

``forked`` makes the child process and limits it, ``prepare`` makes its cases, ``observe`` runs the answer on them
(``guard`` notices what the answer patched, ``answers`` calls it, ``blame`` finds its faulty line), and ``observation``
defines the form of the result. This package is copied to where answers run, so it contains no rules.
"""
