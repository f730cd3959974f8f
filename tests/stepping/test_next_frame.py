"""A step moves nothing except what changes, as measured by the browser's layout shift."""

from __future__ import annotations

import pytest

from tests.browsing import needs_chromium
from tests.stepping.test_edit_stepper import twelve_nodes_eight_frames
from tests.stepping.test_run_in_browser import block

pytestmark = [needs_chromium, pytest.mark.room(name="site")]

WATCH = """() => {
  window.shifts = [];
  const keep = entries => window.shifts.push(...entries.map(entry => entry.value));
  const watcher = new PerformanceObserver(list => keep(list.getEntries()));
  watcher.observe({type: "layout-shift", buffered: false});
  window.shiftsSoFar = () => { keep(watcher.takeRecords()); return window.shifts; };
}"""
# A message that is sent in the callback of an animation frame arrives after that frame is painted.
STEP = """() => new Promise(done => {
  document.dispatchEvent(new KeyboardEvent("keydown", {key: "n", bubbles: true, cancelable: true}));
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done();
    channel.port2.postMessage(null);
  });
})"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("build", [twelve_nodes_eight_frames, lambda: block(compare="boxed_run")])
def test_a_step_is_painted_and_nothing_shifts(show, build, width: int) -> None:
    page = show(build(), build(), width=width)
    page.evaluate(WATCH)
    for _ in range(7):
        page.evaluate(STEP)
    assert page.locator(".fx-now .fx-caption").first.inner_text().startswith("8/")
    assert page.evaluate("shiftsSoFar()") == []
