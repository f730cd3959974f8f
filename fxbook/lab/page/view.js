// The lab on the page: picture, list and code, the signs, the forms, and the Python that does the same.
import {addressOf, explained, tellSolved} from "./book.js";
import {make} from "./fields.js";
import {argumentsForm, createForm, inputForm, moveForm, replaceForm, targetForm} from "./forms.js";
import {place} from "./layout.js";
import {picture} from "./picture.js";
import {judge} from "./puzzle.js";
import {rowsOf} from "./rows.js";
import {Session} from "./session.js";
import {argumentText} from "./text.js";
import {shown} from "./values.js";

const SIGNS = {added: "+", rewired: "↪", moved: "↕"};
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
    this.verdict = make("p", {class: "fx-lab-verdict"});
    this.heard = make("p", {class: "fx-lab-said", "aria-live": "polite"});
    this.tools = make("div", {class: "fx-lab-tools", role: "group", "aria-label": "The chosen node", tabindex: -1});
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
    const wish = puzzle ? [make("p", {class: "fx-lab-wish"}, `${puzzle.wish} `, ...address ? [make("a", {href: address, target: "_blank", rel: "noopener"}, "Read the section")] : [])] : [];
    const hint = puzzle && puzzle.hint ? [make("details", {class: "fx-lab-hint"}, make("summary", {}, "A hint"), make("p", {}, puzzle.hint))] : [];
    this.root.replaceChildren(make("p", {class: "fx-title"}, this.data.title), ...wish, ...hint, this.signs,
      this.tabs, main, this.tools, this.formArea, general, this.heard, this.verdict,
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
    const typed = this.root.contains(document.activeElement) && this.formArea.contains(document.activeElement);
    this.close();
    const entry = this.session.do(action);
    if (action.do === "create" && !entry.error) this.picked = this.graph.nodes.find(node => (this.session.marks.get(node.name) || []).includes("added"))?.name;
    this.show();
    this.say(entry.error ? `${entry.error.kind}: ${entry.error.message.split("\n")[0]}` : entry.outside ? `The lab stops here: ${entry.outside}.`
      : action.do === "run" ? `The module returns ${shown(entry.result)}.`
      : action.do === "dead code" ? `Done: ${entry.line} ${entry.result ? "deleted dead nodes" : "found nothing to delete"}.` : `Done: ${entry.line}${action.do === "target" ? ` (the node keeps its name, ${action.node})` : ""}`);
    if (typed) this.tools.focus();
  }

  change(run, said) {
    this.close();
    run();
    this.show();
    this.say(said);
  }

  say(text) { this.heard.textContent = text; }

  show() {
    const focused = this.root.contains(document.activeElement) && document.activeElement.getAttribute("data-fx-pick");
    this.keep();
    const {graph, session} = this, rows = rowsOf(graph), module = session.module;
    if (!this.node) this.picked = undefined;
    const puzzle = this.data.puzzle, fault = puzzle && judge(puzzle, module, session.history);
    const solved = puzzle && !fault;
    if (solved) tellSolved(puzzle.id);
    this.verdict.textContent = !puzzle ? "" : solved ? "✓ Solved." : session.history.length ? `Not yet: ${fault.message}` : "";
    this.verdict.classList.toggle("fx-fine", Boolean(solved));
    const marks = new Map(rows.map(({name}) => [name, [...session.marks.get(name) || []]]));
    for (const node of graph.nodes) {
      if (!node.users.size && !graph.isImpure(node)) marks.get(node.name).push("dead");
      if (fault && session.history.length && fault.node === node.name) marks.get(node.name).push("broken");
      if (node.name === this.picked) marks.get(node.name).push("hot");
    }
    this.showSigns(module);
    const drawn = make("div", {class: "fx-scroll"}, picture(place(rows), rows, marks));
    this.panels.picture.replaceChildren(this.panels.picture.firstChild, drawn);
    this.panels.list.replaceChildren(this.panels.list.firstChild, this.table(marks));
    this.panels.code.replaceChildren(make("p", {class: "fx-heading"}, module.stale ? "Code, as it was compiled: it does not show the graph" : "Code"),
      make("pre", {class: "fx-code", tabindex: 0}, module.code.trim()));
    this.showTools();
    if (focused) this.panels.list.querySelector(`button[data-fx-pick="${focused}"]`)?.focus();
    this.back.disabled = !session.history.length;
    this.again.disabled = !session.undone.length;
    this.showScript();
  }

  showSigns(module) {
    const {session} = this;
    let lint = "lint: in order", last = "";
    try {
      module.graph.lint();
    } catch (error) {
      lint = "lint: an error";
    }
    const run = session.entries.findLast(entry => entry.ran);
    if (run && run === session.entries.at(-1) && !run.error && !run.outside) last = `result: ${shown(run.result)}`;
    this.signs.replaceChildren(...[[lint, lint === "lint: in order"], [module.refused ? "code: does not compile, the old program runs" : module.stale ? "code: stale" : "code: up to date", !module.stale && !module.refused],
      ...last ? [[last, true]] : []].map(([text, fine]) => make("span", {class: fine ? "fx-lab-sign" : "fx-lab-sign fx-lab-bad"}, String(text))));
  }

  table(marks) {
    const head = make("tr", {}, ...["#", "node", "calls", "users"].map(text => make("th", {scope: "col"}, text)));
    return make("table", {class: "fx-list"}, make("thead", {}, head), make("tbody", {}, ...this.graph.nodes.map((node, at) => {
      const own = marks.get(node.name), sign = own.map(mark => SIGNS[mark] || "").join("");
      const called = node.op === "call_function" ? this.data.functions[node.target].shown : node.target;
      const rest = [...node.args.map(item => argumentText(item)), ...Object.entries(node.kwargs).map(([key, item]) => `${key}=${argumentText(item)}`)];
      return make("tr", {class: own.map(mark => `fx-${mark}`).join(" ")},
        make("td", {class: "fx-sign"}, `${at}${sign ? ` ${sign}` : ""}`),
        make("th", {scope: "row"}, make("button", {type: "button", "data-fx-pick": node.name, "aria-pressed": String(node.name === this.picked)}, node.name),
          make("span", {class: "fx-opcode"}, node.op)),
        make("td", {}, make("code", {}, node.op === "output" ? argumentText(node.args[0] ?? null) : node.op === "placeholder" || node.op === "get_attr" ? called : `${called}(${rest.join(", ")})`)),
        make("td", {}, [...node.users].map(user => user.name).join(", ") || "–"));
    })));
  }

  showTools() {
    const {node, graph} = this;
    if (!node) {
      this.tools.replaceChildren(make("span", {class: "fx-lab-none"}, "Choose a node in the picture or in the list to edit it."));
      return;
    }
    const button = (text, form, why = "") => make("button", {type: "button", "aria-disabled": String(!form()),
      onclick: () => form() ? this.open(form()) : this.say(why)}, text);
    this.tools.replaceChildren(make("strong", {}, node.name),
      button("Insert before", () => createForm(graph, "before", node.name)), button("Insert after", () => createForm(graph, "after", node.name)),
      button("Change its arguments", () => argumentsForm(graph, node), `A ${node.op} node does not have arguments to change.`),
      button("Change what it calls", () => targetForm(graph, node), `The target of a ${node.op} node cannot be changed here. Create a new node instead.`),
      button("Make its users use another node", () => replaceForm(graph, node), `No node uses ${node.name}.`),
      button("Use another input", () => inputForm(graph, node), `${node.name} does not use a node.`),
      button("Move", () => moveForm(graph, node)), make("button", {type: "button", onclick: () => this.act({do: "erase", node: node.name})}, "Erase"));
  }

  showScript() {
    const {session} = this;
    this.script.replaceChildren(...session.script.split("\n").map(line => make("span", {class: "fx-row"}, line || " ")));
    const last = session.entries.at(-1);
    if (last && (last.error || last.outside)) {
      const text = last.error ? `${last.error.kind}: ${last.error.message}` : `The lab stops here: ${last.outside}. torch may go on.`;
      const link = last.error && explained(last.error.message);
      this.script.append(make("span", {class: "fx-row fx-lab-error"}, text, ...link ? [" ", make("a", {href: link}, "What it means")] : []));
    }
  }
}
