// Whether a puzzle is solved: its rules in order, the first that is broken with the node it is about.
import {Node, OutsideTheLab, PythonError} from "./node.js";
import {isTensor} from "./numbers.js";
import {shown} from "./values.js";

/**
 * @typedef {{id: string, wish: string, lesson: string, section: string, hint: string, rules: any[][], tries?: {inputs: any, output: any}[]}} Puzzle
 * @typedef {{message: string, node?: string}} Fault
 */

/** @param {any} a @param {any} b @returns {boolean} */
export const close = (a, b) => {
  if (isTensor(a) && isTensor(b)) {
    return a.shape.join() === b.shape.join() && a.data.every((value, at) =>
      Math.abs(value - b.data[at]) <= 1e-9 + 1e-7 * Math.abs(b.data[at]));
  }
  if (a && a.tuple && b && b.tuple) return close(a.tuple, b.tuple);
  return Array.isArray(a) && Array.isArray(b) ? a.length === b.length && a.every((item, at) => close(item, b[at])) : a === b;
};

/** What a node does, in any spelling: as a function, an operator, a method or a layer. @param {import("./module.js").GraphModule} module @param {Node} node */
const callsOf = ({data}, {op, target}) => op === "call_module" ? data.modules[target].layer.toLowerCase()
  : op === "call_function" || op === "call_method" ? target.split(".").at(-1) : "";

/** Where a graph first differs from the program compiled before. @param {import("./module.js").GraphModule} module @returns {Fault | undefined} */
const differing = ({graph, program}) => {
  const written = ({op, target, args, kwargs}) => JSON.stringify([op, target, args, kwargs],
    (_, value) => value instanceof Node ? {local: value.name} : value);
  for (const node of graph.nodes) {
    const step = program.find(({name}) => name === node.name);
    if (!step) return {message: `The code does not have \`${node.name}\`.`, node: node.name};
    if (written(step) !== written(node)) return {message: `The call of \`${node.name}\` is not the one in the code.`, node: node.name};
  }
  const at = program.findIndex((step, k) => graph.nodes[k]?.name !== step.name), moved = graph.nodes[at];
  return moved && {message: `\`${moved.name}\` does not stand where the code has it.`, node: moved.name};
};

/** @type {Record<string, (state: {module: import("./module.js").GraphModule, history: any[]}, ...given: any[]) => Fault | undefined>} */
const RULES = {
  lint: ({module}) => {
    try {
      module.graph.lint();
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      const [, input, reader] = /^Argument '(.*?)' of Node '(.*?)' was used before/.exec(error.message) || [];
      return {message: `\`lint\` raises an error: ${reader ? `\`${reader}\` uses \`${input}\` before it is defined.` : error.message.split("\n")[0]}`, node: reader};
    }
  },
  compiled: ({module}) => module.refused || module.stale ? {message: "The graph is edited, but the module still runs the old code. Press “Recompile”."} : undefined,
  "as the code": ({module}) => module.stale ? differing(module) || {message: "The graph and the code still differ."} : undefined,
  "no dead nodes": ({module}) => {
    const dead = module.graph.nodes.find(node => !node.users.size && !module.graph.isImpure(node));
    return dead && {message: `Node \`${dead.name}\` is dead: no node uses its result.`, node: dead.name};
  },
  calls: ({module}, name, wanted) => {
    const found = module.graph.nodes.filter(node => callsOf(module, node) === name).length;
    if (found < wanted) return {message: wanted === 1 ? `No node calls \`${name}\` yet.` : `So far, ${found} of ${wanted} nodes call \`${name}\`.`};
  },
  gone: ({module}, name) => {
    const found = module.graph.nodes.find(node => callsOf(module, node) === name);
    return found && {message: `Node \`${found.name}\` is still in the graph.`, node: found.name};
  },
  order: ({module}, ...names) => {
    const found = module.graph.nodes.map(node => callsOf(module, node)).filter(name => names.includes(name));
    if (found.join() === names.join()) return undefined;
    const short = names => names.map(name => `\`${name}\``).join(", ");
    const missing = names.filter(name => !found.includes(name));
    return {message: missing.length ? `${short(missing)} ${missing.length === 1 ? "is" : "are"} missing.`
      : `The order is ${short(found)}. It should be ${short(names)}.`};
  },
  kept: ({module}, ...names) => {
    const lost = names.find(name => !module.graph.find(name));
    return lost && {message: `Node \`${lost}\` is gone, but it should stay. Undo, or start again.`};
  },
  "at most": ({history}, most, ...kinds) => {
    const used = history.filter(action => kinds.includes(action.do)).length;
    const what = kinds.length === 1 ? `${kinds[0]}d ${used} times` : `made ${used} edits`;
    return used <= most ? undefined : {message: `You ${what}, but ${most} ${most === 1 ? "is" : "are"} enough. Undo, or start again.`};
  },
  never: ({history}, ...kinds) => {
    const used = history.find(action => kinds.includes(action.do));
    return used && {message: `Do it without ${{recompile: "“Recompile”", "dead code": "“Delete dead code”"}[used.do]}. Undo, or start again.`};
  },
  did: ({history}, kind) => history.some(action => action.do === kind) ? undefined : {message: `Now press ${{"dead code": "“Delete dead code”"}[kind]}.`},
  "one anchor": ({module}) => {
    const made = module.graph.nodes.filter(node => node.made !== undefined), loose = made.find(node => !node.made);
    if (loose) return {message: `\`${loose.name}\` was created at the end of the list, without an anchor. Erase it, or undo.`, node: loose.name};
    const used = new Set(made.map(node => node.made));
    return used.size < 2 ? undefined : {message: `The new nodes have different anchors: ${[...used].join(" and ")}. The lab chooses each new node, so choose the first anchor again before the second insertion. Undo, or start again.`};
  },
  result: ({module}, ...tries) => {
    for (const {inputs, output} of tries) {
      try {
        const given = module.run(module.parameters.map(name => inputs[name] || module.data.spare));
        if (!close(given, output)) return {message: `The module returns \`${shown(given)}\`, but it should return \`${shown(output)}\`.`};
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
