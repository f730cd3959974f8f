"""In Chromium, the lab's controls solve every puzzle, also by keyboard; it passes axe and fits a phone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from fxbook.drawing.paint import paint_node
from fxbook.lab.lab import Lab
from fxbook.lab.puzzles import PUZZLES
from tests.browsing import THEMES, needs_chromium
from tests.lab.test_torch import layout_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = [needs_chromium, pytest.mark.room(name="lab")]

HEAD = (
    "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=width=device-width><title>Lab</title>"
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    file: Path = tmp_path_factory.mktemp("lab") / "lab.html"
    body = f"<body style='{THEMES['light']}'><main><h1>Lab</h1>{Lab.puzzles(*PUZZLES)._repr_html_()}</main>"
    file.write_text(HEAD + body, encoding="utf-8")
    return file.as_uri()


@pytest.fixture(params=[1200, 360])
def page(request: pytest.FixtureRequest, browser: Browser, address: str) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": request.param, "height": 800})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    yield page
    assert not errors
    page.close()


def opened(page: Page, name: str) -> Locator:
    lab = page.locator(f'[data-fx-puzzle="{name}"]')
    lab.locator("summary").first.click()
    lab.locator(".fx-lab-live").wait_for()
    if lab.locator(".fx-tabs").is_visible():
        lab.locator(".fx-tabs button", has_text="Nodes").click()
    return lab


def choose(lab: Locator, name: str) -> None:
    button = lab.locator(f'.fx-list button[data-fx-pick="{name}"]')
    if button.get_attribute("aria-pressed") == "false":
        button.click()


def fill(argument: Locator, value: Any) -> None:
    select = argument.locator("select").first
    match value:
        case {"node": name}:
            select.select_option(f"node {name}")
        case list():
            select.select_option("list")
            for item in value:
                argument.locator(".fx-lab-items select").select_option(item["node"])
        case str():
            select.select_option("text")
            argument.locator("input[type=text]").last.fill(value)
        case _:
            raise AssertionError(f"no puzzle needs {value!r}")


def do(lab: Locator, action: dict[str, Any]) -> None:
    """Perform an action from a solution with the mouse."""
    form, tool = (
        lab.locator(".fx-lab-form"),
        lambda text: lab.locator(f'.fx-lab-tools button:text-is("{text}")').click(),
    )
    field = lambda name: form.get_by_label(name, exact=True)  # noqa: E731
    match action["do"]:
        case "recompile":
            tool("Recompile")
            return
        case "dead code":
            tool("Delete dead code")
            return
        case "create":
            choose(lab, action["anchor"])
            tool(f"Insert {action['where']}")
            field("kind").select_option(action["op"])
            field("target").select_option(action["target"])
            for at, value in enumerate(action["args"]):
                fill(form.locator(".fx-lab-argument").nth(at), value)
        case "set":
            choose(lab, action["node"])
            tool("Change its arguments")
            for at, value in enumerate(action["args"]):
                fill(form.locator(".fx-lab-argument").nth(at), value)
        case "target":
            choose(lab, action["node"])
            tool("Change what it calls")
            field("target").select_option(action["target"])
        case "replace":
            choose(lab, action["old"])
            tool("Make its users use another node")
            field("with").select_option(action["new"])
            for box in form.locator("fieldset label").all():
                box.locator("input").set_checked(not action.get("only") or box.inner_text().strip() in action["only"])
        case "input":
            choose(lab, action["node"])
            tool("Use another input")
            field("every use of").select_option(action["old"])
            field("with").select_option(action["new"])
        case "move":
            choose(lab, action["node"])
            tool("Move")
            field("place").select_option(action["where"])
            field("node").select_option(action["anchor"])
        case "erase":
            choose(lab, action["node"])
            tool("Erase")
            return
    form.locator("button[type=submit]").click()


def test_every_puzzle_is_solved_with_the_controls(page: Page) -> None:
    from playwright.sync_api import expect

    for name, puzzle in PUZZLES.items():
        lab = opened(page, name)
        for action in puzzle.solution:
            do(lab, dict(action))
        expect(lab.locator(".fx-lab-verdict strong")).to_have_text("✓ Solved.")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        lab.locator("summary").first.click()


def test_a_puzzle_is_solved_by_keyboard_alone(page: Page) -> None:
    from playwright.sync_api import expect

    lab, keys = page.locator('[data-fx-puzzle="another-function"]'), page.keyboard
    lab.locator("summary").first.focus()
    keys.press("Enter")
    lab.locator(".fx-lab-live").wait_for()
    if lab.locator(".fx-tabs").is_visible():
        lab.locator(".fx-tabs button", has_text="Nodes").focus()
        keys.press("Enter")
    lab.locator('.fx-list button[data-fx-pick="relu"]').focus()
    keys.press("Enter")
    lab.locator(".fx-lab-tools button", has_text="Change what it calls").focus()
    keys.press("Enter")
    keys.type("torch.tanh")
    keys.press("Tab")
    keys.press("Enter")
    assert page.evaluate("document.activeElement.closest('.fx-lab') !== null"), "the focus is where the next tool is"
    # JupyterLab's shortcuts, such as B for a new cell, look for it on this element.
    assert page.evaluate("document.activeElement.hasAttribute('data-lm-suppress-shortcuts')")
    expect(lab.locator(".fx-lab-said")).to_have_text("Done: relu.target = torch.tanh (the node keeps its name, relu)")
    lab.locator(".fx-lab-tools button", has_text="Recompile").focus()
    keys.press("Enter")
    expect(lab.locator(".fx-lab-verdict strong")).to_have_text("✓ Solved.")
    lab.get_by_role("button", name="Next puzzle").focus()
    keys.press("Enter")
    page.locator('[data-fx-puzzle="return-both"] .fx-lab-live').wait_for()
    assert page.evaluate("document.activeElement.textContent") == "Return two values"


def test_the_focus_stays_at_the_tools_when_one_of_them_is_used(page: Page) -> None:
    lab, focused = opened(page, "erase-by-hand"), "document.activeElement"
    for name, left in (("sin", "Erase"), ("tan", "Choose a node")):
        choose(lab, name)
        lab.locator(".fx-lab-tools button", has_text="Erase").focus()
        page.keyboard.press("Enter")
        assert page.evaluate(f"{focused}.closest('.fx-lab-node') && {focused}.textContent").startswith(left)


COVERED = """buttons => buttons.filter(button => {
  const box = button.getBoundingClientRect();
  const foot = button.closest(".fx-lab").querySelector(".fx-lab-foot").getBoundingClientRect();
  return box.top < foot.bottom && box.bottom > foot.top;
}).map(button => button.textContent)"""


def test_a_phone_shows_the_picture_with_the_form_and_with_what_the_lab_says(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.goto(f"{address}#erase-by-hand")
    lab = page.locator('[data-fx-puzzle="erase-by-hand"]')
    tap, node = lambda text: lab.get_by_role("button", name=text, exact=True).tap(), lambda name: picked.format(name)
    picked, seen = '.fx-node[data-fx-pick="{}"]', "box => [box.top >= 0, box.bottom <= innerHeight]"
    in_sight = lambda part: lab.locator(part).first.evaluate(f"part => ({seen})(part.getBoundingClientRect())")  # noqa: E731
    lab.locator(node("sin")).tap()
    tap("Erase")
    assert "Tried to erase Node sin" in lab.locator(".fx-lab-said").inner_text()
    assert in_sight(".fx-lab-said") == in_sight(node("sin")) == [True, True]
    assert not lab.locator(".fx-lab-tools button").evaluate_all(COVERED)
    tap("Insert before")
    assert in_sight(".fx-lab-form") == in_sight(node("sin")) == [True, True]
    form = lab.locator(".fx-lab-form")
    first, second = form.get_by_label("a", exact=True), form.get_by_label("b", exact=True)
    assert [first.input_value(), second.input_value()] == ["node x", ""], "not the node that comes after the new one"
    lab.locator(node("relu")).tap()
    assert [first.input_value(), second.input_value()] == ["node x", "node relu"]
    tap("Create")
    tap("Undo")
    assert lab.locator(".fx-lab-said").inner_text() == "Undone: add = graph.call_function(operator.add, (x, relu))"
    page.close()


def test_two_taps_in_the_picture_fill_two_arguments(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 780}, has_touch=True, is_mobile=True)
    page.goto(f"{address}#back-to-the-code")
    lab = page.locator('[data-fx-puzzle="back-to-the-code"]')
    node = lambda name: lab.locator(f'.fx-node[data-fx-pick="{name}"]')  # noqa: E731
    node("add").tap()
    lab.get_by_role("button", name="Change its arguments").tap()
    for name in ("relu", "sin"):
        node(name).tap()
    lab.get_by_role("button", name="Set", exact=True).tap()
    assert lab.locator(".fx-lab-said").inner_text() == "Done: add.args = (relu, sin)"
    page.close()


def test_a_number_that_cannot_be_read_says_how_to_write_one(page: Page) -> None:
    lab = opened(page, "one-anchor")
    choose(lab, "sin")
    lab.get_by_role("button", name="Insert after").click()
    lab.get_by_label("b", exact=True).select_option("number")
    field = lab.get_by_label("b: the number")
    for number, right in {"-1": True, " 0.5": True, "0,5": False, "1e3": False, "x": False}.items():
        field.fill(number)
        why = field.evaluate("field => field.validationMessage")
        assert why == ("" if right else "Write a number such as 2, -1 or 0.5"), number


def test_an_address_opens_its_puzzle(page: Page, address: str) -> None:
    page.goto(f"{address}#break-the-cycle")
    page.locator('[data-fx-puzzle="break-the-cycle"] .fx-lab-live').wait_for()
    page.evaluate("location.hash = 'both-uses'")
    page.locator('[data-fx-puzzle="both-uses"] .fx-lab-live').wait_for()
    assert page.locator(".fx-lab-live").count() == 2


def test_without_script_a_puzzle_shows_its_graph_and_the_code_to_begin_with(browser: Browser, address: str) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(address)
    puzzle = page.locator('[data-fx-puzzle="break-the-cycle"]')
    puzzle.locator("summary").first.click()
    assert puzzle.locator(".fx-node").count() == 5
    assert 'module, inputs = Lab.start("break-the-cycle")' in puzzle.locator("pre").inner_text()
    page.close()


def test_axe_finds_nothing_in_an_open_lab(page: Page) -> None:
    from axe_playwright_python.sync_playwright import Axe

    long = [dict(PUZZLES["one-anchor"].solution[0], args=[{"node": "x"}])] * 20
    page.evaluate("kept => sessionStorage.setItem('fx-lab break-the-cycle', kept)", json.dumps(long))
    lab = opened(page, "break-the-cycle")
    choose(lab, "exp")
    lab.locator(".fx-lab-tools button", has_text="Make its users use another node").click()
    assert not Axe().run(page, options={"preload": False}).response["violations"]


SHAPES = """nodes => nodes.map(node => [...node.children].map(one =>
  [one.tagName, one.textContent, Object.fromEntries([...one.attributes].map(({name, value}) => [name, value]))]))"""


def test_a_lab_paints_nodes_as_the_drawings_do(page: Page) -> None:
    for name in PUZZLES:
        lab, module = opened(page, name), Lab.start(name)[0]
        if name == "four-opcodes":
            do(lab, dict(PUZZLES[name].solution[0]))
            with module.graph.inserting_before(module.graph.output_node()):
                module.graph.get_attr("scale")
        painted = []
        for node, box in zip(module.graph.nodes, layout_of(module).boxes, strict=True):
            group = paint_node(ElementTree.Element("svg"), box, node.op, (), {})
            painted.append([[one.tag, one.text or "", dict(one.attrib)] for one in group])
        assert lab.locator(".fx-node").evaluate_all(SHAPES) == painted, name


def test_undo_brings_back_the_graph_and_redo_the_edit(page: Page) -> None:
    lab = opened(page, "one-anchor")
    names = lambda: lab.locator(".fx-list th[scope=row] button").all_inner_texts()  # noqa: E731
    do(lab, dict(PUZZLES["one-anchor"].solution[0]))
    assert names() == ["x", "sin", "cos", "output"]
    lab.locator(".fx-lab-tools button", has_text="Undo").click()
    assert names() == ["x", "sin", "output"]
    lab.locator(".fx-lab-tools button", has_text="Redo").click()
    assert names() == ["x", "sin", "cos", "output"]


@pytest.mark.parametrize("kept", ["5", "not JSON", '[{"do": "erase", "node": "gone"}]', '[{"do": "set"}]'])
def test_a_lab_starts_whatever_the_browser_has_kept(page: Page, kept: str) -> None:
    page.evaluate("kept => sessionStorage.setItem('fx-lab one-anchor', kept)", kept)
    lab = opened(page, "one-anchor")
    assert lab.locator(".fx-list th[scope=row] button").all_inner_texts() == ["x", "sin", "output"]


def test_work_is_kept_while_the_tab_is_open(page: Page) -> None:
    lab = opened(page, "one-anchor")
    do(lab, dict(PUZZLES["one-anchor"].solution[0]))
    page.reload()
    opened(page, "one-anchor")
    assert lab.locator(".fx-list th[scope=row] button").all_inner_texts() == ["x", "sin", "cos", "output"]
