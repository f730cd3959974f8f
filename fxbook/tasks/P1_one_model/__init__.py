"""The milestones of project P1: one network, from its code to a graph that runs with fewer nodes and less memory."""

ORDER = (
    "read_it",
    "clean_it",
    "replace_the_pool",
    "fold_the_norms",
    "work_in_place",
    "inputs_by_name",
    "run_it_boxed",
    "measure_it",
)
