"""``python -m tests.mutation 00-readers 03``: try the mutants of solutions, by exercise or chapter."""

from __future__ import annotations

import argparse

from fxbook import tasks
from tests.mutation import report
from tests.mutation.programs import solution_of
from tests.mutation.trying import trials


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("beginnings", nargs="*", metavar="ID", help="the beginning of exercise ids (default: all)")
    options = parser.parse_args()
    tried: list[report.Row] = []
    for identity in tasks.ids():
        if identity.startswith(tuple(options.beginnings) or ""):
            of_one = report.rows(trials(solution_of(identity)))
            survived = report.survivors(of_one)
            print("\n".join([f"{identity}: {len(of_one)} made, {len(survived)} survived", *survived]), flush=True)
            tried += of_one
    print("\n".join(report.table(tried)))


if __name__ == "__main__":
    main()
