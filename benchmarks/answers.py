"""Measure what the checks of the exercises catch, by the known answers: ``python benchmarks/answers.py``.

Each wrong answer is observed once, and each rule of its exercise judges the observation separately. The table shows for
every rule how many wrong answers it is the first to report, how many it would catch, and how many only it would catch.
A rule that is never needed can be deleted. The times are those of a whole check, for which a learner waits.
"""

from __future__ import annotations

import collections
import dataclasses
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fxbook.cases.exercise import Exercise
from fxbook.checking import check_with
from fxbook.checking.judge import judge
from fxbook.checking.verify import GRACE_SECONDS
from fxbook.observing.forked import run_in_child
from fxbook.observing.observe import observe
from fxbook.observing.prepare import prepare
from fxbook.rules.rule import Rule
from fxbook.tasks import all_exercises
from fxbook.tasks.answering import answers_to

SEED = 1


def _asking(exercise: Exercise, rules: tuple[Rule, ...]) -> Exercise:
    return dataclasses.replace(exercise, check=dataclasses.replace(exercise.check, rules=rules))


def caught_by(exercise: Exercise, answer: object) -> list[str]:
    """All rules that find something in the answer, in the order of the exercise."""
    seconds = exercise.usage.seconds
    outcome = run_in_child(lambda: observe(prepare(exercise, SEED), answer, seconds), seconds + GRACE_SECONDS)
    if outcome.data is None:
        return ["(ends well)"]
    bare = judge(_asking(exercise, ()), outcome.data, SEED)
    if bare.violation:
        return [f"({bare.violation.rule})"]
    rules = []
    for holds in exercise.check.rules:
        try:
            verdict = judge(_asking(exercise, (holds,)), outcome.data, SEED)
        except (KeyError, IndexError, ValueError):
            continue  # It relies on an earlier rule that does not hold.
        if verdict.violation:
            rules.append(verdict.violation.rule)
    return rules


def main() -> None:
    first, all_, alone = collections.Counter(), collections.Counter(), collections.Counter()
    used_in: dict[str, set[str]] = collections.defaultdict(set)
    seconds: dict[str, float] = {}
    print(f"{'exercise':30}right  wrong  median s  worst s")
    for exercise in all_exercises():
        answers = answers_to(exercise.id)
        times = []
        for answer in answers:
            start = time.perf_counter()
            check_with(exercise, answer.answer, seed=SEED)
            times.append(time.perf_counter() - start)
            seconds[f"{exercise.id} {answer.name}"] = times[-1]
            if answer.violated:
                rules = caught_by(exercise, answer.answer)
                first.update(rules[:1])
                all_.update(set(rules))
                alone.update(rules if len(set(rules)) == 1 else [])
                for rule in rules:
                    used_in[rule].add(exercise.id)
        wrong = sum(bool(answer.violated) for answer in answers)
        if times:
            spread = f"{statistics.median(times):8.3f}  {max(times):7.3f}"
            print(f"{exercise.id:30}{len(answers) - wrong:5}{wrong:7}  {spread}")
    print(f"\n{'property':34}first  catches  alone  in exercises")
    for rule, count in all_.most_common():
        print(f"{rule:34}{first[rule]:5}{count:9}{alone[rule]:7}{len(used_in[rule]):7}")
    print(f"\na check: median {statistics.median(seconds.values()):.3f} s")
    for name, taken in sorted(seconds.items(), key=lambda item: -item[1])[:5]:
        print(f"  {taken:.3f} s  {name}")


if __name__ == "__main__":
    main()
