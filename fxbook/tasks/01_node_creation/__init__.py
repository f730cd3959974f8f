"""Exercises of chapter 01: create nodes of all six opcodes, and find out what each may hold."""

ORDER = ("six_opcodes", "rotate_half", "linear_apart", "find_adds", "lift_constants", "unroll_sequential")
