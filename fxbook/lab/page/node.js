// A node and its arguments, as plain data with torch's rules of who uses whom.

/**
 * @typedef {"placeholder" | "get_attr" | "call_function" | "call_method" | "call_module" | "output"} Op
 * @typedef {Node | {tuple: any[]} | Float | any[] | string | number | boolean | null} Argument a tuple and a list hold arguments
 * @typedef {{float: number}} Float
 */

/** An error of Python, with the class and the message that torch gives it. */
export class PythonError extends Error {
  /** @param {string} kind @param {string} message */
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}

/** An error whose message a lab cannot reproduce: the reader is told so, instead of getting a different message. */
export class OutsideTheLab extends Error {}

export class Node {
  /** @param {string} name @param {Op} op @param {string} target */
  constructor(name, op, target) {
    this.name = name;
    this.op = op;
    this.target = target;
    /** @type {Argument[]} */
    this.args = [];
    /** @type {Record<string, Argument>} */
    this.kwargs = {};
    /** @type {Set<Node>} */
    this.users = new Set();
    /** @type {Set<Node>} */
    this.inputs = new Set();
    /** Where the reader created it, as "after `sin`"; "" at the end of the list. @type {string | undefined} */
    this.made = undefined;
  }
}

/** @param {Argument} argument @param {(node: Node) => Argument} change @returns {Argument} */
export const mapNodes = (argument, change) => {
  if (argument instanceof Node) return change(argument);
  if (Array.isArray(argument)) return argument.map(item => mapNodes(item, change));
  if (argument && typeof argument === "object" && "tuple" in argument)
    return {tuple: argument.tuple.map(item => mapNodes(item, change))};
  return argument;
};
