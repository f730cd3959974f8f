"""What runs inside the sandbox, copied there beside the observing half of the library.

``warm`` imports torch once and forks for each submission, ``confine`` takes from the fork what it could do harm with,
``system_calls`` are those it may not make, ``hidden`` puts a teacher's cases in place of the public ones. ``probe``
tries all that without torch, and tells what this machine lacks.
"""
