"""Attacks on the room for students' code also fail in the judging and reading rooms."""

from __future__ import annotations

import pytest

from classroom.sandbox import Sandbox
from classroom.sandbox.contents import JUDGING, READING
from classroom.tests.sandbox import taking_over
from classroom.tests.sandbox.harm import Bait, Watch
from classroom.tests.sandbox.sandboxing import Attack, attacks, brief
from classroom.tests.sandbox.test_rooms_taken_over import bait, sandbox, watch  # noqa: F401  (fixtures)
from tests.cold import drawn

# These rooms contain the checks, so reading them is not harm.
ALL = [attack for attack in attacks() if attack.name != "read_the_checks"]


@pytest.mark.parametrize("room", [JUDGING, READING])
@pytest.mark.parametrize("attack", drawn.some(ALL, 30), ids=lambda attack: attack.name)
def test_code_in_a_room_does_no_harm(
    watch: Watch,  # noqa: F811
    sandbox: Sandbox,  # noqa: F811
    bait: Bait,  # noqa: F811
    attack: Attack,
    room: str,
) -> None:
    with brief(sandbox):
        came = taking_over.tried(sandbox, bait, attack, room)
    assert watch.harms(came) == []
