"""Use an answer, and write what it did as plain data: the half of a check that runs the learner's code.

``forked`` makes the child process and limits it, ``prepare`` makes its cases, ``observe`` runs the answer on them
(``guard`` notices what it patched, ``answers`` calls it, ``blame`` finds its faulty line), and ``observation`` is the
form of what came out. Nothing here knows a rule: the package goes where answers run.
"""
