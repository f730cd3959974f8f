// The foot of a lab, always in sight: what the last action did, whether the puzzle is solved, and the way to the next one.
import {NEXT_CHAPTER, addressOf, openFold, tellSolved} from "./book.js";
import {make, withCode} from "./fields.js";
import {judge} from "./puzzle.js";

export class Foot {
  /** @param {HTMLElement} root @param {import("./puzzle.js").Puzzle | undefined} puzzle */
  constructor(root, puzzle) {
    this.puzzle = puzzle;
    this.judged = "";
    this.heard = make("p", {class: "fx-lab-said", "aria-live": "polite"});
    this.verdict = make("p", {class: "fx-lab-verdict", "aria-live": "polite"});
    this.follows = nextOf(root);
    this.next = make("button", {type: "button", hidden: true, onclick: () => openFold(this.follows)}, "Next puzzle");
    const address = addressOf(NEXT_CHAPTER);
    this.last = make("p", {hidden: true}, "That was the last puzzle.",
      ...address ? [" Continue with ", make("a", {href: address}, "chapter 05"), "."] : []);
    this.element = make("div", {class: "fx-lab-foot"}, this.heard, this.verdict, this.next, this.last);
  }

  /** @param {(string | HTMLElement)[]} said @param {boolean} [bad] whether it is an error */
  say(said, bad = false) {
    this.heard.classList.toggle("fx-lab-error", bad);
    this.heard.replaceChildren(...said);
  }

  /**
   * Says whether the puzzle is solved.
   * @param {import("./session.js").Session} session @returns {import("./puzzle.js").Fault | undefined} what is wrong, once something is done
   */
  judge({module, history}) {
    const {puzzle} = this;
    if (!puzzle) return undefined;
    const fault = judge(puzzle, module, history), begun = history.length > 0;
    const said = !fault ? puzzle.lesson : begun ? fault.message : "";
    // Nothing is announced twice.
    if (said !== this.judged) this.verdict.replaceChildren(...said ? [make("strong", {}, fault ? fault.todo ? "Still to do:" : "Not yet:" : "✓ Solved."), " ", ...withCode(said)] : []);
    this.judged = said;
    this.verdict.classList.toggle("fx-fine", !fault);
    this.verdict.classList.toggle("fx-todo", Boolean(fault && fault.todo));
    this.next.hidden = Boolean(fault) || !this.follows;
    this.last.hidden = Boolean(fault) || Boolean(this.follows);
    if (!fault) tellSolved(puzzle.id);
    return begun && fault && !fault.todo ? fault : undefined;
  }
}

/** The fold of the puzzle after this one on the page. @param {HTMLElement} root @returns {HTMLDetailsElement | undefined} */
const nextOf = root => {
  const labs = [...document.querySelectorAll("[data-fx-puzzle]")];
  return labs[labs.indexOf(root.closest("[data-fx-puzzle]")) + 1]?.querySelector("details");
};
