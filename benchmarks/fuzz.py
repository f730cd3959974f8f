"""Call everything that a rebuilt graph may call, with hostile arguments, in the grader's judge, and count crashes.

    python benchmarks/fuzz.py [--calls 200] [--seed 0] [--only NAME]

Each call is a graph, rebuilt and run like a forged one. A process runs many of them; if it dies, they are bisected to
find the one that kills it. A crash costs one answer: the listed calls are what an attacker can use, and any that the
book does not need should be removed from the list (:mod:`classroom.judge.allowed`).
"""

from __future__ import annotations

import argparse
import collections
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from classroom.sandbox import Limits, Sandbox
from classroom.tests.sandbox.fuzzing import Drawn, drawn_calls, fuzzing_sandbox, names_to_call, run_calls

_BATCH = 250


def crashes(sandbox: Sandbox, calls: Sequence[Drawn], ends: dict[str, int]) -> Iterator[tuple[Drawn, str]]:
    """The calls that killed their process, and how they did; the other calls' outcomes are counted in ``ends``."""
    ended = run_calls(sandbox, calls, ends)
    if not ended:
        return
    if len(calls) == 1:
        yield calls[0], ended
        return
    half = len(calls) // 2
    deaths = [*crashes(sandbox, calls[:half], ends), *crashes(sandbox, calls[half:], ends)]
    # If no call kills the process alone, one call has corrupted the process for another.
    yield from deaths or [(calls[0], f"{ended}, of {len(calls)} together")]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=200, help="how often each is called")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of its name")
    options = parser.parse_args(arguments)
    names = [name for name in names_to_call() if options.only in name]
    ends: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    first: dict[tuple[str, str], Any] = {}
    survived: dict[str, int] = {}
    count = 0
    with fuzzing_sandbox(Limits(processor_seconds=4.0)) as sandbox:
        calls = [call for name in names for call in drawn_calls(name, options.calls, options.seed)]
        for start in range(0, len(calls), _BATCH):
            batch = calls[start : start + _BATCH]
            count += len(batch)
            for call, ended in crashes(sandbox, batch, survived):
                ends[call.name][ended] += 1
                first.setdefault((call.name, ended), call)
                print(f"{call.name}: {ended}: {call}", flush=True)
            if start // _BATCH % 20 == 0:
                print(f"{count} of {len(calls)} calls", flush=True)
    deaths = sum(counts.total() for counts in ends.values())
    print(f"{count} calls of {len(names)} names; {deaths} ended their process")
    print("of the others: " + ", ".join(f"{end} {times}" for end, times in sorted(survived.items())))
    for name, counts in sorted(ends.items()):
        print(f"  {name}: " + ", ".join(f"{ended} {times}" for ended, times in counts.items()))


if __name__ == "__main__":
    main()
