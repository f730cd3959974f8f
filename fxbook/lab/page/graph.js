// A graph of torch.fx and the edits that torch allows, with torch's own rules. Nothing here knows the page.
import {Namespace, snakeCase} from "./names.js";
import {Node, PythonError, mapNodes} from "./node.js";
import {graphText} from "./text.js";

const mapValues = (record, change) => Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));

/** @typedef {import("./node.js").Argument} Argument */
/** @typedef {import("./node.js").Op} Op */

export class Graph {
  /** @param {import("./data.js").GraphData} data */
  constructor(data) {
    this.data = data;
    this.namespace = new Namespace(data.namespace);
    /** @type {Node[]} */
    this.nodes = data.nodes.map(({name, op, target}) => new Node(name, op, target));
    data.nodes.forEach((given, at) => this.setArguments(
      this.nodes[at], given.args.map(item => this.read(item)), mapValues(given.kwargs, item => this.read(item))));
    // The order of users is the order in which the author's edits made them, so it is given, not derived.
    data.nodes.forEach((given, at) => { this.nodes[at].users = new Set(given.users.map(name => this.find(name))); });
  }

  /** @param {string} name @returns {Node} */
  find(name) {
    return this.nodes.find(node => node.name === name);
  }

  /** @param {any} item an argument as data, in which a node is `{node: name}` @returns {Argument} */
  read(item) {
    if (Array.isArray(item)) return item.map(inner => this.read(inner));
    if (item && item.tuple) return {tuple: item.tuple.map(inner => this.read(inner))};
    return item && item.node ? this.find(item.node) : item;
  }

  /** `Node._update_args_kwargs`. @param {Node} node @param {Argument[]} args @param {Record<string, Argument>} kwargs */
  setArguments(node, args, kwargs) {
    node.inputs.forEach(input => input.users.delete(node));
    node.inputs.clear();
    node.args = args;
    node.kwargs = kwargs;
    for (const argument of [...args, ...Object.values(kwargs)]) {
      mapNodes(argument, input => {
        node.inputs.add(input);
        input.users.add(node);
        return input;
      });
    }
  }

  /**
   * A new node beside the anchor, or at the end of the list.
   * @param {{op: Op, target: string, args?: Argument[], kwargs?: Record<string, Argument>,
   *          where?: "before" | "after", anchor?: Node}} wish
   */
  create({op, target, args = [], kwargs = {}, where, anchor}) {
    const node = new Node(this.namespace.create(this.wishedName(op, target)), op, target);
    this.setArguments(node, args, kwargs);
    this.place(node, where, anchor);
    node.made = anchor ? `${where} \`${anchor.name}\`` : "";
    return node;
  }

  /** The name that a new node gets if it is free. @param {Op} op @param {string} target */
  wishedName(op, target) {
    return snakeCase(op === "call_function" ? this.data.functions[target].name : target);
  }

  /** @param {Node} node @param {"before" | "after"} [where] @param {Node} [anchor] */
  place(node, where, anchor) {
    const at = anchor ? this.nodes.indexOf(anchor) + (where === "after" ? 1 : 0) : this.nodes.length;
    this.nodes.splice(at, 0, node);
  }

  /** `Node.append` and `Node.prepend`. @param {Node} node @param {"before" | "after"} where @param {Node} anchor */
  move(node, where, anchor) {
    if (node === anchor) return;
    this.nodes.splice(this.nodes.indexOf(node), 1);
    this.place(node, where, anchor);
  }

  /** `node.target = …`: the name and the arguments stay. @param {Node} node @param {string} target */
  retarget(node, target) {
    node.target = target;
  }

  /** @param {Node} node */
  erase(node) {
    if (node.users.size) {
      const users = [...node.users].map(user => `${user.name}: None`).join(", ");
      throw new PythonError("RuntimeError",
        `Tried to erase Node ${node.name} but it still had ${node.users.size} users in the graph: {${users}}!`);
    }
    this.nodes.splice(this.nodes.indexOf(node), 1);
    this.replaceNodes(node, () => null);
  }

  /** @param {Node} node @param {(input: Node) => Argument} change */
  replaceNodes(node, change) {
    this.setArguments(node, node.args.map(item => mapNodes(item, change)), mapValues(node.kwargs, item => mapNodes(item, change)));
  }

  /** @param {Node} node @param {Node} old @param {Node} other */
  replaceInput(node, old, other) {
    this.replaceNodes(node, input => input === old ? other : input);
  }

  /** @param {Node} old @param {Node} other @param {Set<string>} [only] the users to change; all, if it is not given */
  replaceAllUses(old, other, only) {
    for (const user of [...old.users]) if (!only || only.has(user.name)) this.replaceInput(user, old, other);
  }

  lint() {
    /** @type {Set<Node>} */
    const seen = new Set();
    for (const node of this.nodes) {
      for (const input of node.inputs) {
        if (!seen.has(input)) {
          throw new PythonError("RuntimeError",
            `Argument '${input.name}' of Node '${node.name}' was used before it has been defined! ` +
            `Please check that Nodes in the graph are topologically ordered\n${graphText(this)}`);
        }
      }
      seen.add(node);
    }
  }

  /** @returns {boolean} whether a node was erased */
  eliminateDeadCode() {
    this.lint();
    const before = this.nodes.length;
    for (const node of [...this.nodes].reverse()) if (!this.isImpure(node) && !node.users.size) this.erase(node);
    return this.nodes.length < before;
  }

  /** @param {Node} node */
  isImpure(node) {
    return node.op === "placeholder" || node.op === "output" || (node.op === "call_function" && this.data.functions[node.target].impure);
  }
}
