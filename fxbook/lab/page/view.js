// The lab on the page: picture, list and code, the signs, the forms, and the Python that does the same.
import {addressOf, explained, tellSolved} from "./book.js";
import {make} from "./fields.js";
import {argumentsForm, createForm, inputForm, moveForm, replaceForm, targetForm} from "./forms.js";
import {place} from "./layout.js";
import {isTensor} from "./numbers.js";
import {picture} from "./picture.js";
import {judge} from "./puzzle.js";
import {rowsOf} from "./rows.js";
import {Session} from "./session.js";
import {argumentText} from "./text.js";

const SIGNS = {added: "+", rewired: "↪", moved: "↕"};
const short = value => Math.abs(value) < 1e-12 ? "0" : String(Number(value.toPrecision(4)));

/** @param {any} value @returns {string} */
export const shown = value => isTensor(value) ? nested(value.data, value.shape) : Array.isArray(value) ? `(${value.map(shown).join(", ")})`
  : value === null ? "None" : typeof value === "object" ? String(value.float) : typeof value === "boolean" ? (value ? "True" : "False") : String(value);
/** @param {number[]} data @param {number[]} shape @returns {string} */
const nested = (data, [size, ...rest] = []) => size === undefined ? short(data[0])
  : `[${Array.from({length: size}, (_, at) => nested(data.slice(at * data.length / size, (at + 1) * data.length / size), rest)).join(", ")}]`;

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
    this.build();
    this.show();
  }

  get graph() { return this.session.module.graph; }
  get node() { return this.picked === undefined ? undefined : this.graph.find(this.picked); }

  build() {
    const panel = (key, heading) => make("div", {class: "fx-panel", "data-fx-panel": key}, make("p", {class: "fx-heading"}, heading));
    this.panels = {picture: panel("picture", "Graph"), list: panel("list", "Nodes, in list order"), code: panel("code", "Code")};
    this.signs = make("p", {class: "fx-lab-signs"});
    this.verdict = make("p", {class: "fx-lab-verdict"});
    this.heard = make("p", {class: "fx-heard", "aria-live": "polite"});
    this.tools = make("div", {class: "fx-lab-tools", role: "group", "aria-label": "The chosen node"});
    this.formArea = make("form", {class: "fx-lab-form", hidden: true, onsubmit: event => { event.preventDefault(); this.submit(); }});
    this.script = make("pre", {class: "fx-code fx-lab-script", tabindex: 0, "aria-label": "The Python that does the same"});
    const button = (text, run) => make("button", {type: "button", onclick: run}, text);
    this.back = button("Undo", () => this.change(() => this.session.undo(), "Undone."));
    this.again = button("Redo", () => this.change(() => this.session.redo(), "Done again."));
    const general = make("div", {class: "fx-lab-tools", role: "group", "aria-label": "The graph"},
      button("New node at the end", () => this.open(createForm(this.graph))),
      button("Delete dead code", () => this.act({do: "dead code"})), button("Lint", () => this.act({do: "lint"})),
      button("Recompile", () => this.act({do: "recompile"})), button("Run", () => this.act({do: "run"})), this.back, this.again,
      button("Start again", () => this.change(() => this.session.reset(), "Started again.")));
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
    const wish = puzzle ? [make("p", {class: "fx-lab-wish"}, `${puzzle.wish} `, ...address ? [make("a", {href: address}, "Read the section")] : [])] : [];
    const hint = puzzle && puzzle.hint ? [make("details", {class: "fx-lab-hint"}, make("summary", {}, "A hint"), make("p", {}, puzzle.hint))] : [];
    this.root.replaceChildren(make("p", {class: "fx-title"}, this.data.title), ...wish, this.verdict, ...hint, this.signs, this.heard,
      this.tabs, main, this.tools, this.formArea, general,
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
      this.say(`${name} is chosen.`);
      return;
    }
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
    const action = this.form.action();
    this.close();
    this.act(action);
  }

  act(action) {
    this.close();
    const entry = this.session.do(action);
    if (action.do === "create" && !entry.error) this.picked = this.graph.nodes.find(node => (this.session.marks.get(node.name) || []).includes("added"))?.name;
    this.show();
    this.say(entry.error ? `${entry.error.kind}: ${entry.error.message.split("\n")[0]}` : entry.outside ? `The lab stops here: ${entry.outside}.`
      : action.do === "run" ? `The result is ${shown(entry.result)}.` : `Done: ${entry.line}`);
    if (entry.error && entry.error.message.includes("\n")) this.tab("list");
  }

  change(run, said) {
    this.close();
    run();
    this.show();
    this.say(said);
  }

  say(text) { this.heard.textContent = text; }

  show() {
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
    const run = session.entries.findLast(entry => entry.shows || entry.outside);
    if (run && run.shows) last = `result: ${shown(run.result)}`;
    this.signs.replaceChildren(...[[lint, lint === "lint: in order"], [module.stale ? "code: stale" : "code: up to date", !module.stale],
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
      this.tools.replaceChildren(make("span", {class: "fx-lab-none"}, "Choose a node, in the picture or in the list, to edit there."));
      return;
    }
    const button = (text, form) => make("button", {type: "button", disabled: !form(), onclick: () => this.open(form())}, text);
    this.tools.replaceChildren(make("strong", {}, node.name),
      button("Insert before", () => createForm(graph, "before", node.name)), button("Insert after", () => createForm(graph, "after", node.name)),
      button("Arguments", () => argumentsForm(graph, node)), button("Target", () => targetForm(graph, node)),
      button("Replace all uses", () => replaceForm(graph, node)), button("Replace an input", () => inputForm(graph, node)),
      button("Move", () => moveForm(graph, node)), make("button", {type: "button", onclick: () => this.act({do: "erase", node: node.name})}, "Erase"));
  }

  showScript() {
    const {session} = this;
    this.script.replaceChildren(...session.script.split("\n").map(line => make("span", {class: "fx-row"}, line || " ")));
    const last = session.entries.at(-1);
    if (last && (last.error || last.outside)) {
      const text = last.error ? `${last.error.kind}: ${last.error.message}` : `The lab stops here: ${last.outside}. torch raises an error of its own.`;
      const link = last.error && explained(last.error.message);
      this.script.append(make("span", {class: "fx-row fx-lab-error"}, text, ...link ? [" ", make("a", {href: link}, "What it means")] : []));
    }
  }
}
