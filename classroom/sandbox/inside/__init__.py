"""The code that runs inside the sandbox, copied there beside the needed part of the library.

``warm`` imports torch once and forks for each task, ``confine`` takes away the fork's rights, and ``hidden`` replaces
public cases with a teacher's. ``observing``, ``judging`` and ``reading`` are the rooms. ``probe`` tries the confinement
without torch to find what this machine lacks.
"""
