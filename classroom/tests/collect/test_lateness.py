"""Lateness costs what the teacher's rule says, on evidence from a learning system only."""

from __future__ import annotations

import datetime as dt

import pytest

from classroom.collect.lateness import Deadline, Lateness, Receipt, Rule, plain

DUE = dt.datetime(2026, 11, 20, 23, 59, tzinfo=dt.UTC)
HOUR = dt.timedelta(hours=1)
DAY = dt.timedelta(days=1)
RULE = Rule(per_day=0.1, at_most=0.5, after_days_nothing=7)
ANNA = frozenset({plain("Anna  Müller"), "12345"})


def late(record: Receipt = Receipt(), saved: float = 0.0, **changes: object) -> Lateness:  # noqa: B008
    return Deadline(**{"due": DUE, "rule": RULE, **changes}).lateness(record, saved, ANNA)


@pytest.mark.parametrize(
    ("days", "share"), [(0, 0.0), (1, 0.1), (2, 0.2), (5, 0.5), (6, 0.5), (7, 0.5), (8, 1.0), (900, 1.0)]
)
def test_rule_deducts_a_share_per_day(days: int, share: float) -> None:
    assert RULE.share(days) == pytest.approx(share)
    assert Rule().share(days) == 0


@pytest.mark.parametrize(
    ("after", "days"),
    [(-DAY, 0), (dt.timedelta(), 0), (dt.timedelta(seconds=1), 1), (DAY, 1), (DAY + HOUR, 2), (40 * DAY, 40)],
)
def test_each_begun_day_counts(after: dt.timedelta, days: int) -> None:
    assert late(Receipt(moment=DUE + after)) == Lateness(days)


def test_grace_period_does_not_shift_the_due_date() -> None:
    rule = Rule(per_day=0.1, grace_minutes=15)
    assert late(Receipt(moment=DUE + dt.timedelta(minutes=15)), rule=rule).days == 0
    assert late(Receipt(moment=DUE + dt.timedelta(minutes=16)), rule=rule).days == 1
    assert late(Receipt(moment=DUE + DAY + dt.timedelta(minutes=1)), rule=rule).days == 2


@pytest.mark.parametrize("name", ["Anna Müller", "ANNA MÜLLER", "12345"])
@pytest.mark.parametrize("granted", [2 * DAY, DUE + 2 * DAY])
def test_extension_replaces_the_due_date(name: str, granted: object) -> None:
    extensions = {name: granted, "Ben": 9 * DAY}
    assert late(Receipt(moment=DUE + 2 * DAY), extensions=extensions).days == 0
    assert late(Receipt(moment=DUE + 2 * DAY + HOUR), extensions=extensions).days == 1


def test_latest_extension_counts() -> None:
    record = Receipt(moment=DUE + 3 * DAY, until=DUE + 3 * DAY)
    assert late(record).days == 0, "one that the learning system granted"
    assert late(record, extensions={"12345": DAY}).days == 0
    assert late(Receipt(moment=DUE + HOUR), extensions={"12345": DUE - 9 * DAY}).days == 1, "none makes it earlier"


def test_due_date_of_the_learning_system_is_the_default() -> None:
    assert late(Receipt(moment=DUE + DAY, by=DAY + HOUR), due=None).days == 2
    assert late(Receipt(moment=DUE + DAY), due=None) == Lateness()


def test_late_flag_counts_as_one_day() -> None:
    lateness = late(Receipt(late=True))
    assert lateness.days == 1 and "it counts as one day" in lateness.note
    assert late(Receipt(late=False)) == Lateness()
    for changes in ({"rule": Rule(per_day=0.1, grace_minutes=5)}, {"extensions": {"12345": DAY}}):
        doubt = late(Receipt(late=True), **changes)
        assert doubt.days == 0 and "no points are deducted" in doubt.note


def test_file_time_costs_nothing() -> None:
    saved = (DUE + 3 * DAY).timestamp()
    assert late(saved=saved) == Lateness(0, late(saved=saved).note)
    assert "saved 3 days after it was due" in late(saved=saved).note
    assert late(saved=(DUE - HOUR).timestamp()) == late(saved=0) == Lateness()
    assert late(Receipt(moment=DUE), saved=saved) == late(Receipt(late=False), saved=saved) == Lateness()
    assert late(saved=saved, rule=Rule()) == Lateness(), "nothing is at stake"
