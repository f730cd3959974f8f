"""Exercises of chapter 04: know when an edit takes effect, and make it take effect."""

ORDER = ("is_it_stale", "every_module_inside", "compile_once", "fails_inside", "survives_a_pickle", "forget_nothing")
