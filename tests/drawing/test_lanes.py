"""Values that are alive in the same row never share a lane, and few lanes are needed."""

from __future__ import annotations

import itertools
import random

from fxbook.drawing.lanes import Lane, find_lanes
from fxbook.graph.record import GraphRecord, NodeRecord


def reading(inputs: list[tuple[int, ...]]) -> GraphRecord:
    """A graph whose nodes have these inputs, given by index."""
    nodes = [
        NodeRecord(at, f"n{at}", "call_function", "f", None, "f()", {"tuple": []}, {"dict": []}, read, ())
        for at, read in enumerate(inputs)
    ]
    return GraphRecord(tuple(nodes))


def meet(a: Lane, b: Lane) -> bool:
    """Whether two lanes would overlap if they had the same place."""
    if a.span[1] == b.span[0] or b.span[1] == a.span[0]:
        return not (a.falls and b.falls)
    return a.span[0] < b.span[1] and b.span[0] < a.span[1]


def test_no_two_values_share_a_place_next_to_a_row() -> None:
    chance = random.Random(0)
    for _ in range(300):
        count = chance.randint(2, 16)
        inputs = [tuple(chance.choices(range(count), k=chance.randint(0, 3))) for _ in range(count)]
        straight, lanes = find_lanes(reading(inputs))
        led = [*straight, *((lane.source, reader, k) for lane in lanes for reader, k in lane.readers)]
        assert sorted(led) == sorted((source, at, k) for at, read in enumerate(inputs) for k, source in enumerate(read))
        for a, b in itertools.combinations(lanes, 2):
            assert (a.side, a.place) != (b.side, b.place) or not meet(a, b), (inputs, a, b)


def test_lanes_are_contiguous_and_few() -> None:
    chance = random.Random(1)
    for _ in range(300):
        inputs = [tuple(chance.choices(range(at), k=2)) if at else () for at in range(chance.randint(2, 20))]
        _, lanes = find_lanes(reading(inputs))
        for side in ("right", "left"):
            own = [lane for lane in lanes if lane.side == side]
            places = {lane.place for lane in own}
            assert places == set(range(1, len(places) + 1))
        alive = max((sum(a.span[0] <= row < a.span[1] for a in lanes) for row in range(len(inputs))), default=0)
        # Lanes are on two sides, and both nearest places may already be taken for the last one.
        assert max((lane.place for lane in lanes), default=0) <= alive // 2 + 1
