// Whether a puzzle is solved: its rules in order, the first that is broken with the node it is about.
import {PythonError} from "./node.js";
import {OutsideTheLab, isTensor} from "./numbers.js";

/**
 * @typedef {{id: string, wish: string, section: string, hint: string, rules: any[][], tries?: {inputs: any, output: any}[]}} Puzzle
 * @typedef {{message: string, node?: string}} Fault
 */

/** @param {any} a @param {any} b @returns {boolean} */
export const close = (a, b) => {
  if (isTensor(a) && isTensor(b)) {
    return a.shape.join() === b.shape.join() && a.data.every((value, at) =>
      Math.abs(value - b.data[at]) <= 1e-9 + 1e-7 * Math.abs(b.data[at]));
  }
  return Array.isArray(a) && Array.isArray(b) ? a.length === b.length && a.every((item, at) => close(item, b[at])) : a === b;
};

const counted = (count, noun) => count === 1 ? `a ${noun}` : `${count} ${noun}s`;

/** @type {Record<string, (state: {module: import("./module.js").GraphModule, history: any[]}, ...given: any[]) => Fault | undefined>} */
const RULES = {
  lint: ({module}) => {
    try {
      module.graph.lint();
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      const [, , reader] = /^Argument '(.*?)' of Node '(.*?)'/.exec(error.message) || [];
      return {message: error.message.split("\n")[0], node: reader};
    }
  },
  compiled: ({module}) => module.stale ? {message: "The code does not show your last edit yet."} : undefined,
  "no dead nodes": ({module}) => {
    const dead = module.graph.nodes.find(node => !node.users.size && !module.graph.isImpure(node));
    return dead && {message: `Node ${dead.name} is dead: no node uses its result.`, node: dead.name};
  },
  count: ({module}, target, wanted) => {
    const found = module.graph.nodes.filter(node => node.target === target);
    return found.length === wanted ? undefined
      : {message: `${found.length} ${found.length === 1 ? "node calls" : "nodes call"} ${target}, ${wanted} should.`, node: found[0] && found[0].name};
  },
  order: ({module}, ...targets) => {
    const found = module.graph.nodes.filter(node => targets.includes(node.target)).map(node => node.target);
    return found.join() === targets.join() ? undefined : {message: `The list has them in this order: ${found.join(", ") || "none of them"}.`};
  },
  kept: ({module}, ...names) => {
    const lost = names.find(name => !module.graph.find(name));
    return lost && {message: `Node ${lost} is gone, and should stay.`};
  },
  "at most": ({history}, most, ...kinds) => {
    const used = history.filter(action => kinds.includes(action.do)).length;
    return used <= most ? undefined : {message: `That took ${counted(used, "edit")} of this kind, and ${most} ${most === 1 ? "is" : "are"} enough: undo, or start again.`};
  },
  never: ({history}, ...kinds) => {
    const used = history.find(action => kinds.includes(action.do));
    return used && {message: `Do it without ${used.do}: undo, or start again.`};
  },
  did: ({history}, kind) => history.some(action => action.do === kind) ? undefined : {message: `Not done yet: ${kind}.`},
  "one anchor": ({history}) => {
    const used = new Set(history.filter(action => action.do === "create").map(action => `${action.where} ${action.anchor}`));
    return used.size < 2 ? undefined : {message: `The new nodes have different anchors: ${[...used].join(", ")}. Undo, or start again.`};
  },
  result: ({module}, ...tries) => {
    for (const {inputs, output} of tries) {
      try {
        const given = module.run(module.parameters.map(name => inputs[name] || module.data.spare));
        if (!close(given, output)) return {message: "The module computes something else."};
      } catch (error) {
        if (!(error instanceof PythonError || error instanceof OutsideTheLab)) throw error;
        return {message: `Calling the module fails: ${error.message.split("\n")[0]}`};
      }
    }
  },
};

/** @param {Puzzle} puzzle @param {import("./module.js").GraphModule} module @param {any[]} history @returns {Fault | undefined} */
export const judge = (puzzle, module, history) => {
  for (const [kind, ...given] of puzzle.rules) {
    const fault = RULES[kind]({module, history}, ...given);
    if (fault) return fault;
  }
};
