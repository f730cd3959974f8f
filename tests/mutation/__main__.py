"""``python -m tests.mutation 00-readers 03``: try the mutants of exercises, or of chapters, and print what passed."""

from __future__ import annotations

import argparse

from fxbook import tasks
from tests.mutation import table
from tests.mutation.listed import listed
from tests.mutation.mutants import mutants_of
from tests.mutation.programs import programs_of
from tests.mutation.trying import SEEDS, trials


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("beginnings", nargs="*", metavar="ID", help="of ids; all exercises without one")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    options = parser.parse_args()
    all_counts = []
    for identity in tasks.ids():
        if not identity.startswith(tuple(options.beginnings) or ""):
            continue
        known = listed(identity)
        mutants = [mutant for program in programs_of(identity) for mutant in mutants_of(program)]
        tried = list(trials(mutants, options.seeds))
        all_counts.append(table.counts(tried, known.right))
        passed = [trial for trial in tried if trial.survived and trial.mutant.key not in known]
        refused = [trial for trial in tried if trial.mutant.key in known.right and trial.refused_by]
        print(f"{identity}: {len(tried)} made, {len(known.keys())} listed, {len(passed)} passed")
        for trial in passed:
            print(f"\n{trial.mutant.key}\n  with the seeds {trial.passed}\n{trial.mutant.diff()}")
        for trial in refused:
            print(f"\nlisted, but refused by {trial.refused_by}: {trial.mutant.key}")
        for key in known.keys() - {mutant.key for mutant in mutants}:
            print(f"\nlisted, but made no more: {key}")
    print("\n".join(table.lines(all_counts)))


if __name__ == "__main__":
    main()
