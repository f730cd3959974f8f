// The lab on the page: picture, list and code, the signs, the forms, and the Python that does the same.
import {addressOf} from "./book.js";
import {make, staying, withCode} from "./fields.js";
import {Foot} from "./foot.js";
import {createForm} from "./forms.js";
import {place} from "./layout.js";
import {LEGEND, codeOf, marksOf, saidOf, scriptOf, signsOf, tableOf} from "./panels.js";
import {picture} from "./picture.js";
import {rowsOf} from "./rows.js";
import {Session} from "./session.js";
import {toolsOf} from "./tools.js";

const POINT = "If you choose a node in the picture or in the list, it goes into the marked field.";

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
    this.foot = new Foot(root, data.puzzle);
    this.restore();
    this.build();
    this.show();
  }

  get graph() { return this.session.module.graph; }
  get node() { return this.picked === undefined ? undefined : this.graph.find(this.picked); }

  /** The key under which a reader's edits are stored while the tab is open. */
  get key() { return `fx-lab ${this.data.puzzle ? this.data.puzzle.id : this.data.title}`; }

  restore() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(this.key));
      if (!Array.isArray(kept)) return;
      this.session.history = kept;
      this.session.restart();
    } catch {
      // The stored edits belong to a different graph: the book has changed since.
      this.session = new Session(this.data);
    }
  }

  keep() {
    try { sessionStorage.setItem(this.key, JSON.stringify(this.session.history)); } catch { /* full, or forbidden */ }
  }

  build() {
    const panel = (key, heading) => make("div", {class: "fx-panel", "data-fx-panel": key}, make("p", {class: "fx-heading", "aria-hidden": key === "picture" && "true"}, heading));
    this.panels = {picture: panel("picture", "Graph"), list: panel("list", "Nodes, in list order"), code: panel("code", "Code")};
    this.signs = make("p", {class: "fx-lab-signs"});
    this.tools = make("div", {class: "fx-lab-tools fx-lab-node", role: "group", "aria-label": "The chosen node", tabindex: -1});
    this.formArea = make("form", {class: "fx-lab-form", hidden: true, onsubmit: event => { event.preventDefault(); this.submit(); },
      onkeydown: event => {
        if (event.key === "Escape") this.cancel();
        // In JupyterLab, Enter in a field does not submit a form by itself.
        if (event.key === "Enter" && event.target.type === "text") { event.preventDefault(); this.formArea.requestSubmit(); }
      }});
    this.script = make("pre", {class: "fx-code fx-lab-script", tabindex: 0, "aria-label": "The same edits in Python"});
    const button = (text, run) => make("button", {type: "button", onclick: run}, text);
    this.back = button("Undo", () => this.change(() => ["Undone: ", make("code", {}, this.session.undo())]));
    this.again = button("Redo", () => this.change(() => ["Redone: ", make("code", {}, this.session.redo())]));
    const general = make("div", {class: "fx-lab-tools", role: "group", "aria-label": "The graph"},
      button("New node at the end", () => this.open(createForm(this.graph))),
      button("Delete dead code", () => this.act({do: "dead code"})), button("Lint", () => this.act({do: "lint"})),
      button("Recompile", () => this.act({do: "recompile"})), button("Run", () => this.act({do: "run"})), this.back, this.again,
      button("Start again", () => this.change(() => {
        this.session.reset();
        this.picked = undefined;
        return ["Started again. “Redo” brings your edits back, one by one."];
      })));
    const tabs = Object.entries({picture: "Graph", list: "Nodes", code: "Code"}).map(([key, text]) => make("button",
      {type: "button", "data-fx-picks": key, onclick: () => this.tab(key)}, text));
    this.tabs = make("div", {class: "fx-tabs", role: "group", "aria-label": "Views of the graph"}, ...tabs);
    const copy = button("Copy the Python", async () => {
      try {
        await navigator.clipboard.writeText(this.session.script);
        this.foot.say(["Copied."]);
      } catch {
        getSelection().selectAllChildren(this.script);
        this.foot.say(["This browser does not let the page copy. The Python is selected: copy it yourself."]);
      }
    });
    const main = make("div", {class: "fx-lab-main"}, ...Object.values(this.panels));
    main.addEventListener("click", event => {
      const at = event.target.closest("[data-fx-pick]");
      if (at) this.pick(at.getAttribute("data-fx-pick"));
    });
    const {puzzle} = this.data, address = puzzle ? addressOf(puzzle.section) : "";
    const wish = puzzle ? [make("p", {class: "fx-lab-wish"}, ...withCode(puzzle.wish), " ", ...address ? [make("a", {href: address, target: "_blank", rel: "noopener"}, "Read the section")] : [])] : [];
    const hint = puzzle && puzzle.hint ? [make("details", {class: "fx-lab-hint"}, make("summary", {}, "A hint"), make("p", {}, ...withCode(puzzle.hint)))] : [];
    this.root.replaceChildren(make("p", {class: "fx-title"}, this.data.title), ...wish, ...hint, this.signs,
      this.tabs, main, this.foot.element, this.tools, this.formArea, general,
      make("details", {class: "fx-lab-hint"}, make("summary", {}, "What the marks mean"), make("ul", {}, ...LEGEND.map(line => make("li", {}, ...withCode(line))))),
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
      this.foot.say(withCode(`\`${name}\` is in the form.`));
      return;
    }
    this.close();
    this.picked = name;
    this.show();
    this.foot.say(withCode(`\`${name}\` is chosen.`));
  }

  /** @param {import("./forms.js").Form | undefined} form */
  open(form) {
    if (!form) return;
    this.form = form;
    this.opener = document.activeElement;
    this.formArea.hidden = false;
    this.root.classList.add("fx-lab-asks");
    // The form takes the place of the tools, so that a phone shows it together with the picture.
    this.tools.hidden = true;
    this.formArea.setAttribute("aria-label", form.title.replaceAll("`", ""));
    this.formArea.replaceChildren(make("p", {class: "fx-heading"}, ...withCode(form.title)), ...form.parts,
      make("span", {class: "fx-lab-row"}, make("button", {type: "submit"}, form.button),
        make("button", {type: "button", onclick: () => this.cancel()}, "Cancel")),
      ...form.point ? [make("p", {class: "fx-lab-point"}, POINT)] : []);
    this.formArea.querySelector("select, input")?.focus({preventScroll: true});
    this.formArea.scrollIntoView({block: "nearest"});
  }

  close() {
    this.form = undefined;
    this.formArea.hidden = true;
    this.root.classList.remove("fx-lab-asks");
    this.tools.hidden = false;
    this.formArea.replaceChildren();
  }

  cancel() {
    this.close();
    /** @type {any} */ (this.opener).focus();
  }

  submit() {
    this.act(this.form.action());
  }

  act(action) {
    const from = document.activeElement, used = this.formArea.contains(from) || this.tools.contains(from), label = from.textContent;
    const stay = staying(this.foot.element);
    this.close();
    const entry = this.session.do(action);
    if (action.do === "create" && !entry.error) this.picked = this.graph.nodes.find(node => (this.session.marks.get(node.name) || []).includes("added"))?.name;
    this.show();
    this.foot.say(saidOf(action, entry), Boolean(entry.error || entry.outside));
    stay();
    if (used) ([...this.tools.children].find(button => button.textContent === label) || this.tools).focus();
  }

  /** @param {() => (string | HTMLElement)[]} run changes the session, and gives what to say */
  change(run) {
    const stay = staying(this.foot.element);
    this.close();
    const said = run();
    this.show();
    this.foot.say(said);
    stay();
  }

  show() {
    const focused = this.root.contains(document.activeElement) && document.activeElement.getAttribute("data-fx-pick");
    this.keep();
    if (!this.node) this.picked = undefined;
    const {graph, session} = this, rows = rowsOf(graph), fault = this.foot.judge(session), marks = marksOf(session, this.picked, fault);
    this.signs.replaceChildren(...signsOf(session));
    this.panels.picture.replaceChildren(this.panels.picture.firstChild, make("div", {class: "fx-scroll"}, picture(place(rows), rows, marks)));
    // Keys scroll a picture that is higher than its panel.
    const {picture: shown} = this.panels;
    if (shown.scrollHeight > shown.clientHeight) shown.setAttribute("tabindex", "0");
    else shown.removeAttribute("tabindex");
    this.panels.list.replaceChildren(this.panels.list.firstChild, tableOf(graph, marks, this.picked));
    this.panels.code.replaceChildren(...codeOf(session.module));
    this.tools.replaceChildren(...toolsOf(graph, this.node,
      {open: form => this.open(form), say: text => this.foot.say(withCode(text)), act: action => this.act(action)}));
    if (focused) this.panels.list.querySelector(`button[data-fx-pick="${focused}"]`)?.focus();
    this.back.disabled = !session.history.length;
    this.again.disabled = !session.undone.length;
    this.script.replaceChildren(...scriptOf(session));
  }
}
