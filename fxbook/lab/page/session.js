// What a reader has done so far: actions that can be undone, what each said, and what the last one changed.
import {perform, pythonOf, variable} from "./actions.js";
import {GraphModule} from "./module.js";
import {Namespace} from "./names.js";
import {Node, OutsideTheLab, PythonError} from "./node.js";
import {placesOf} from "./text.js";

/** @typedef {{head?: string, line: string, error?: PythonError, outside?: string, result?: any, ran?: boolean, kept?: boolean}} Entry */

export class Session {
  /** @param {import("./data.js").GraphData} data */
  constructor(data) {
    this.data = data;
    /** @type {import("./actions.js").Action[]} */
    this.history = [];
    /** @type {import("./actions.js").Action[]} */
    this.undone = [];
    this.restart();
  }

  /** Plays the history again from the start: a graph is small, so nothing has to be undone. */
  restart() {
    this.module = new GraphModule(this.data);
    for (const action of this.data.setup || []) perform(this.module, action);
    this.start = this.module.graph.nodes.map(node => node.name);
    /** @type {Entry[]} */
    this.entries = [];
    /** @type {Map<string, string[]>} */
    this.marks = new Map();
    /** @type {Set<string>} the new inputs that got numbers of the lab's own */
    this.spare = new Set();
    for (const action of this.history) this.play(action).kept = true;
  }

  /** @param {import("./actions.js").Action} action */
  do(action) {
    const entry = this.play(action);
    // A failed action changed nothing except the text of the code.
    if (!entry.error && !entry.outside || action.do === "recompile") {
      this.history.push(action);
      this.undone = [];
      entry.kept = true;
    }
    return entry;
  }

  /** @returns {string} the Python of the action that is undone */
  undo() {
    const {line} = this.entries.filter(entry => entry.kept).at(-1);
    this.undone.push(this.history.pop());
    this.restart();
    return line;
  }

  /** @returns {string} the Python of the action that is redone */
  redo() {
    this.history.push(this.undone.pop());
    const entry = this.play(this.history.at(-1));
    entry.kept = true;
    return entry.line;
  }

  reset() {
    this.undone = [...this.undone, ...this.history.reverse()];
    this.history = [];
    this.restart();
  }

  /** @param {import("./actions.js").Action} action */
  play(action) {
    const before = this.snapshot();
    /** @type {Entry} */
    const entry = pythonOf(this.module, action, this.nameFor(action));
    try {
      entry.result = perform(this.module, action);
      entry.ran = action.do === "run";
    } catch (error) {
      if (error instanceof PythonError) entry.error = error;
      else if (error instanceof OutsideTheLab) entry.outside = error.message;
      else throw error;
    }
    this.entries.push(entry);
    for (const name of action.do === "run" ? this.module.parameters : [])
      if (!(name in this.data.inputs)) this.spare.add(name);
    this.marks = changes(before, this.snapshot());
    return entry;
  }

  /** The name that a new node will have. @param {import("./actions.js").Action} action */
  nameFor(action) {
    if (action.do !== "create") return "";
    const {used, counts} = this.module.graph.namespace;
    const wish = this.module.graph.wishedName(/** @type {any} */ (action.op), action.target);
    return new Namespace({used: [...used], counts: Object.fromEntries(counts)}).create(wish);
  }

  snapshot() {
    return this.module.graph.nodes.map(node => ({
      name: node.name, target: node.target, inputs: placesOf(node).map(([place, input]) => `${place} ${input.name}`).join(),
      constants: JSON.stringify([node.args, node.kwargs], (_, value) => value instanceof Node ? {} : value)}));
  }

  /** The whole script, each `with` once where several nodes share it. */
  get script() {
    const lines = ["graph = module.graph", `${this.start.map(variable).join(", ")}${this.start.length === 1 ? "," : ""} = graph.nodes`];
    let open = "";
    for (const {head, line, error, outside} of this.entries) {
      if (error || outside) {
        lines.push(`# ${line}  # ${error ? `${error.kind}: ${error.message.split("\n")[0]}` : outside}`);
        open = "";
        continue;
      }
      if (head && head !== open) lines.push(head);
      lines.push(...line.split("\n").map(one => (head ? "    " : "") + one));
      open = head || "";
    }
    const {puzzle, spare: {shape}} = this.data;
    lines.splice(2, 0, ...[...this.spare].map(name => `inputs["${name}"] = torch.ones(${shape.join(", ")}).double()`));
    const needs = [[/\boperator\./, "import operator"], [/\btorch\./, "import torch"], [/\bnn\./, "from torch import nn"],
      [/./, puzzle ? "from fxbook import Lab" : ""]].filter(([use, line]) => line && lines.some(text => /** @type {RegExp} */ (use).test(text)));
    lines.unshift(...needs.map(([, line]) => String(line)), ...needs.length ? [""] : [], puzzle ? `module, inputs = Lab.start("${puzzle.id}")`
      : "# module is your traced module; inputs is a dict with a tensor for each placeholder");
    return lines.join("\n");
  }
}

/** What each node is marked with, as in the steppers; moved are the fewest that explain the new order. @returns {Map<string, string[]>} */
const changes = (before, after) => {
  const old = new Map(before.map((node, at) => [node.name, {...node, at}])), marks = new Map();
  const kept = after.filter(node => old.has(node.name)).map(node => node.name);
  const stay = new Set(longestRising(kept.map(name => old.get(name).at)).map(at => before[at].name));
  for (const {name, target, inputs, constants} of after) {
    const was = old.get(name), found = [];
    if (!was) found.push("added");
    else {
      if (!stay.has(name)) found.push("moved");
      if (was.target !== target) found.push("retargeted");
      if (was.inputs !== inputs) found.push("rewired");
      else if (was.constants !== constants) found.push("changed");
    }
    if (found.length) marks.set(name, found);
  }
  return marks;
};

/** @param {number[]} numbers @returns {number[]} a longest increasing subsequence */
const longestRising = numbers => {
  /** @type {number[][]} */
  const best = [];
  numbers.forEach((number, at) => {
    const before = numbers.slice(0, at).map((other, k) => other < number ? best[k] : []).reduce((a, b) => b.length > a.length ? b : a, []);
    best.push([...before, number]);
  });
  return best.reduce((a, b) => b.length > a.length ? b : a, []);
};
