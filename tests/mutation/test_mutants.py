"""A check rejects most mutants of its own solution; the report names the survivors."""

from __future__ import annotations

import pytest

from fxbook import tasks
from fxbook.checking.judge import CHECK_WORKS
from tests.mutation import report
from tests.mutation.programs import solution_of
from tests.mutation.trying import trials

# A share of the mutants of each solution. It is below 1, since a survivor may also be right: of 3,248 mutants, 266
# survived, and of the 30 of one exercise, 8.
LEAST_REJECTED = 0.7
# If one of these changes nothing, the solution has code that it does not need.
NEVER_RIGHT = {
    "negated",
    "and for or, and back",
    "any for all, and back",
    "except narrowed",
    "override dropped",
}


@pytest.mark.parametrize("identity", tasks.ids())
def test_mutants_of_the_solution_are_rejected(identity: str) -> None:
    rows = report.rows(trials(solution_of(identity)))
    assert rows, "no mutant was made"
    assert [row for row in rows if row.refused_by == CHECK_WORKS] == [], "the check itself fails on these mutants"
    survivors = [row for row in rows if not row.refused_by]
    assert [row for row in survivors if row.operator in NEVER_RIGHT] == []
    assert len(survivors) <= (1 - LEAST_REJECTED) * len(rows), report.survivors(rows)
