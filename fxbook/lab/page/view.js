// The lab on the page: picture, list and code, the signs, the forms, and the Python that does the same.
import {addressOf, openFold, tellSolved} from "./book.js";
import {make, withCode} from "./fields.js";
import {createForm} from "./forms.js";
import {place} from "./layout.js";
import {codeOf, marksOf, saidOf, scriptOf, signsOf, tableOf} from "./panels.js";
import {picture} from "./picture.js";
import {judge} from "./puzzle.js";
import {rowsOf} from "./rows.js";
import {Session} from "./session.js";
import {toolsOf} from "./tools.js";

const LEGEND = "Dashed: no node uses the result. Orange: this is in the way. Bold: your last edit changed it. A number at an arrow: "
  + "which argument; 0.1 is the second item of the list in argument 0. A node keeps its name when you change what it calls, so the "
  + "picture shows the call below the name.";

export class View {
  /** @param {HTMLElement} root @param {any} data */
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.session = new Session(data);
    /** @type {string | undefined} */
    this.picked = undefined;
    /** @type {import("./forms.js").Form | undefined} */
    this.form = undefined;
    this.judged = "";
    this.restore();
    this.build();
    this.show();
  }

  get graph() { return this.session.module.graph; }
  get node() { return this.picked === undefined ? undefined : this.graph.find(this.picked); }

  /** Where the work of a reader is kept while the tab is open. */
  get key() { return `fx-lab ${this.data.puzzle ? this.data.puzzle.id : this.data.title}`; }

  restore() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(this.key));
      if (!Array.isArray(kept)) return;
      this.session.history = kept;
      this.session.restart();
    } catch {
      // What was kept is not of this graph: the book has changed since.
      this.session = new Session(this.data);
    }
  }

  keep() {
    try { sessionStorage.setItem(this.key, JSON.stringify(this.session.history)); } catch { /* full, or forbidden */ }
  }

  build() {
    const panel = (key, heading) => make("div", {class: "fx-panel", "data-fx-panel": key}, make("p", {class: "fx-heading"}, heading));
    this.panels = {picture: panel("picture", "Graph"), list: panel("list", "Nodes, in list order"), code: panel("code", "Code")};
    this.signs = make("p", {class: "fx-lab-signs"});
    this.verdict = make("p", {class: "fx-lab-verdict", "aria-live": "polite"});
    this.next = make("button", {type: "button", hidden: true, onclick: () => openFold(nextOf(this.root))}, "Next puzzle");
    this.heard = make("p", {class: "fx-lab-said", "aria-live": "polite"});
    this.tools = make("div", {class: "fx-lab-tools fx-lab-node", role: "group", "aria-label": "The chosen node", tabindex: -1});
    this.formArea = make("form", {class: "fx-lab-form", hidden: true, onsubmit: event => { event.preventDefault(); this.submit(); },
      onkeydown: event => event.key === "Escape" && this.close()});
    this.script = make("pre", {class: "fx-code fx-lab-script", tabindex: 0, "aria-label": "The Python that does the same"});
    const button = (text, run) => make("button", {type: "button", onclick: run}, text);
    this.back = button("Undo", () => this.change(() => this.session.undo(), "Undone."));
    this.again = button("Redo", () => this.change(() => this.session.redo(), "Done again."));
    const general = make("div", {class: "fx-lab-tools", role: "group", "aria-label": "The graph"},
      button("New node at the end", () => this.open(createForm(this.graph))),
      button("Delete dead code", () => this.act({do: "dead code"})), button("Lint", () => this.act({do: "lint"})),
      button("Recompile", () => this.act({do: "recompile"})), button("Run", () => this.act({do: "run"})), this.back, this.again,
      button("Start again", () => this.change(() => { this.session.reset(); this.picked = undefined; }, "Started again; Redo brings your edits back.")));
    const tabs = Object.entries({picture: "Graph", list: "Nodes", code: "Code"}).map(([key, text]) => make("button",
      {type: "button", "data-fx-picks": key, onclick: () => this.tab(key)}, text));
    this.tabs = make("div", {class: "fx-tabs", role: "group", "aria-label": "Shown of the graph"}, ...tabs);
    const copy = button("Copy the Python", async () => {
      await navigator.clipboard.writeText(this.session.script);
      this.say("Copied.");
    });
    const main = make("div", {class: "fx-lab-main"}, ...Object.values(this.panels));
    main.addEventListener("click", event => {
      const at = event.target.closest("[data-fx-pick]");
      if (at) this.pick(at.getAttribute("data-fx-pick"));
    });
    const puzzle = this.data.puzzle;
    const address = puzzle ? addressOf(puzzle.section) : "";
    const wish = puzzle ? [make("p", {class: "fx-lab-wish"}, ...withCode(puzzle.wish), " ", ...address ? [make("a", {href: address, target: "_blank", rel: "noopener"}, "Read the section")] : [])] : [];
    const hint = puzzle && puzzle.hint ? [make("details", {class: "fx-lab-hint"}, make("summary", {}, "A hint"), make("p", {}, ...withCode(puzzle.hint)))] : [];
    this.root.replaceChildren(make("p", {class: "fx-title"}, this.data.title), ...wish, ...hint, this.signs,
      this.tabs, main, this.tools, this.formArea, general, this.heard, this.verdict, this.next,
      make("details", {class: "fx-lab-hint"}, make("summary", {}, "What the signs mean"), make("p", {}, LEGEND)),
      make("p", {class: "fx-heading"}, "The same in Python"), this.script, make("div", {class: "fx-lab-tools"}, copy));
    this.tab("picture");
  }

  tab(key) {
    for (const button of this.tabs.children) button.setAttribute("aria-pressed", String(button.dataset.fxPicks === key));
    for (const [name, panel] of Object.entries(this.panels)) panel.classList.toggle("fx-picked", name === key);
  }

  /** @param {string} name */
  pick(name) {
    if (this.form && this.form.point) {
      this.form.point(name);
      this.say(`${name} is in the form.`);
      return;
    }
    this.close();
    this.picked = this.picked === name ? undefined : name;
    this.show();
    this.say(this.picked ? `${name} is chosen.` : "No node is chosen.");
  }

  /** @param {import("./forms.js").Form | undefined} form */
  open(form) {
    if (!form) return;
    this.form = form;
    this.formArea.hidden = false;
    this.formArea.replaceChildren(make("p", {class: "fx-heading"}, form.title), ...form.parts,
      make("span", {class: "fx-lab-row"}, make("button", {type: "submit"}, form.button),
        make("button", {type: "button", onclick: () => this.close()}, "Cancel")));
    this.formArea.querySelector("select, input")?.focus();
  }

  close() {
    this.form = undefined;
    this.formArea.hidden = true;
    this.formArea.replaceChildren();
  }

  submit() {
    this.act(this.form.action());
  }

  act(action) {
    const from = document.activeElement, used = this.formArea.contains(from) || this.tools.contains(from), label = from.textContent;
    this.close();
    const entry = this.session.do(action);
    if (action.do === "create" && !entry.error) this.picked = this.graph.nodes.find(node => (this.session.marks.get(node.name) || []).includes("added"))?.name;
    this.show();
    this.say(...saidOf(action, entry));
    if (used) ([...this.tools.children].find(button => button.textContent === label) || this.tools).focus();
  }

  change(run, said) {
    this.close();
    run();
    this.show();
    this.say(said);
  }

  /** @param {...(string | HTMLElement)} said */
  say(...said) { this.heard.replaceChildren(...said); }

  show() {
    const focused = this.root.contains(document.activeElement) && document.activeElement.getAttribute("data-fx-pick");
    this.keep();
    if (!this.node) this.picked = undefined;
    const {graph, session} = this, rows = rowsOf(graph), fault = this.judge(), marks = marksOf(session, this.picked, fault);
    this.signs.replaceChildren(...signsOf(session));
    this.panels.picture.replaceChildren(this.panels.picture.firstChild, make("div", {class: "fx-scroll"}, picture(place(rows), rows, marks)));
    this.panels.list.replaceChildren(this.panels.list.firstChild, tableOf(graph, marks, this.picked));
    this.panels.code.replaceChildren(...codeOf(session.module));
    this.tools.replaceChildren(...toolsOf(graph, this.node,
      {open: form => this.open(form), say: text => this.say(text), act: action => this.act(action)}));
    if (focused) this.panels.list.querySelector(`button[data-fx-pick="${focused}"]`)?.focus();
    this.back.disabled = !session.history.length;
    this.again.disabled = !session.undone.length;
    this.script.replaceChildren(...scriptOf(session));
  }

  /** Says whether the puzzle is solved. @returns {import("./puzzle.js").Fault | undefined} what is wrong, once something is done */
  judge() {
    const {puzzle} = this.data, {module, history} = this.session;
    if (!puzzle) return undefined;
    const fault = judge(puzzle, module, history), begun = history.length > 0;
    const said = !fault ? puzzle.lesson : begun ? fault.message : "";
    // Nothing is announced twice.
    if (said !== this.judged) this.verdict.replaceChildren(...said ? [make("strong", {}, fault ? "Not yet:" : "✓ Solved."), " ", ...withCode(said)] : []);
    this.judged = said;
    this.verdict.classList.toggle("fx-fine", !fault);
    this.next.hidden = Boolean(fault) || !nextOf(this.root);
    if (!fault) tellSolved(puzzle.id);
    return begun ? fault : undefined;
  }
}

/** The fold of the puzzle after this one on the page. @param {HTMLElement} root @returns {HTMLDetailsElement | undefined} */
const nextOf = root => {
  const labs = [...document.querySelectorAll("[data-fx-puzzle]")];
  return labs[labs.indexOf(root.closest("[data-fx-puzzle]")) + 1]?.querySelector("details");
};
