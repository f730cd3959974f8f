// Whether a puzzle is solved: its rules in order, the first that is broken with the node it is about.
import {callsOf, close, culprit} from "./culprit.js";
import {GraphModule} from "./module.js";
import {Node, OutsideTheLab, PythonError} from "./node.js";
import {shown} from "./values.js";

/**
 * @typedef {{id: string, wish: string, lesson: string, section: string, hint: string, rules: any[][], steps: import("./culprit.js").Step[]}} Puzzle
 * @typedef {{message: string, node?: string, todo?: "edit" | "press"}} Fault `todo`: nothing is wrong, but something is left to do
 */

/** Where a graph first differs from the program compiled before. @param {GraphModule} module @returns {Fault | undefined} */
const differing = ({graph, program}) => {
  const written = ({op, target, args, kwargs}) => JSON.stringify([op, target, args, kwargs],
    (_, value) => value instanceof Node ? {local: value.name} : value);
  for (const node of graph.nodes) {
    const step = program.find(({name}) => name === node.name);
    if (!step) return {message: `The code does not have \`${node.name}\`.`, node: node.name};
    if (written(step) !== written(node)) return {message: `The call in \`${node.name}\` differs from the one in the code.`, node: node.name};
  }
  const at = program.findIndex((step, k) => graph.nodes[k]?.name !== step.name), moved = graph.nodes[at];
  return moved && {message: `\`${moved.name}\` is not where the code has it.`, node: moved.name};
};

const isEmpty = item => Array.isArray(item) && !item.length;

/**
 * @type {Record<string, (state: {module: GraphModule, history: any[], steps: import("./culprit.js").Step[],
 *   rest: () => Fault | undefined}, ...given: any[]) => Fault | undefined>}
 */
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
  compiled: ({module}) => module.refused || module.stale ? {message: "The graph is edited, but the module still runs the old code. Press “Recompile”.", todo: "press"} : undefined,
  "as the code": ({module}) => module.stale ? {...differing(module) || {message: "The graph and the code still differ."}, todo: "edit"} : undefined,
  "no dead nodes": ({module}) => {
    const dead = module.graph.nodes.find(node => !node.users.size && !module.graph.isImpure(node));
    return dead && {message: `No node uses \`${dead.name}\` yet. Use it, or erase it if you do not need it.`, node: dead.name, todo: "edit"};
  },
  calls: ({module}, name, wanted) => {
    const found = module.graph.nodes.filter(node => callsOf(module, node) === name);
    const empty = found.find(({args, kwargs}) => [...args, ...Object.values(kwargs)].some(isEmpty));
    if (empty) return {message: `The list passed to \`${empty.name}\` is empty.`, node: empty.name, todo: "edit"};
    if (found.length < wanted)
      return {message: wanted === 1 ? `No node calls \`${name}\` yet.` : `So far, \`${name}\` is called by ${found.length} of ${wanted} nodes.`, todo: "edit"};
  },
  gone: ({module}, name) => {
    const found = module.graph.nodes.find(node => callsOf(module, node) === name);
    return found && {message: `Node \`${found.name}\` is still in the graph.`, node: found.name, todo: "edit"};
  },
  order: ({module}, ...names) => {
    const found = module.graph.nodes.map(node => callsOf(module, node)).filter(name => names.includes(name));
    if (found.join() === names.join()) return undefined;
    const short = (names, last = ", ") => names.map(name => `\`${name}\``).join(last);
    const missing = names.filter(name => !found.includes(name));
    if (missing.length) return {message: `No node calls ${short(missing, " or ")} yet.`, todo: "edit"};
    return {message: `The order is ${short(found)}. It should be ${short(names)}.`};
  },
  kept: ({module}, ...names) => {
    const lost = names.find(name => !module.graph.find(name));
    return lost && {message: `Node \`${lost}\` is gone, but it should stay. Undo, or start again.`};
  },
  "at most": ({history, rest}, most, ...kinds) => {
    const used = history.filter(action => kinds.includes(action.do)).length, recompiles = kinds[0] === "recompile";
    if (used > most) return {message: `You ${recompiles ? `recompiled ${used} times` : `made ${used} edits`}, but ${most} ${most === 1 ? "is" : "are"} enough. Undo, or start again.`};
    const left = used === most && rest();
    // What is left to do after the last recompile needs another one.
    if (left && recompiles) return {message: "You have recompiled already, but the graph was not finished. Undo the recompile, or start again."};
    if (left && left.todo !== "press") return {node: left.node, message: `${left.todo ? "The graph is not right yet." : left.message} That was your one edit. Undo it, or start again.`};
  },
  never: ({history}, ...kinds) => {
    const used = history.find(action => kinds.includes(action.do));
    return used && {message: `Do it without ${{recompile: "“Recompile”", "dead code": "“Delete dead code”"}[used.do]}. Undo, or start again.`};
  },
  did: ({history}, kind) => history.some(action => action.do === kind) ? undefined : {message: `Press ${{"dead code": "“Delete dead code”"}[kind]}.`, todo: "press"},
  "one anchor": ({module}) => {
    const made = module.graph.nodes.filter(node => node.made !== undefined), loose = made.find(node => !node.made);
    if (loose) return {message: `\`${loose.name}\` was created at the end of the list, without an anchor. Erase it, or undo.`, node: loose.name};
    const used = new Set(made.map(node => node.made));
    return used.size < 2 ? undefined : {message: `The new nodes have different anchors: ${[...used].join(" and ")}. The lab chooses each new node, so choose the first anchor again before the second insertion. Undo, or start again.`};
  },
  result: ({module, steps}, ...tries) => {
    const early = module.stale || module.refused;
    let fails = "“Recompile” will fail";
    try {
      // A fault of the edited graph is reported before the module runs it.
      const tried = early ? new GraphModule(module.data, module.graph) : module;
      fails = early ? "After “Recompile”, a call to the module will fail" : "A call to the module fails";
      for (const {inputs, output} of tries) {
        const given = tried.run(tried.parameters.map(name => inputs[name] || tried.data.spare));
        if (close(given, output)) continue;
        const {message = "", node = ""} = culprit(steps, tried) || {};
        const does = early ? "After “Recompile”, the module will return" : "The module returns";
        return {message: `${message}${does} \`${shown(given)}\`, but it should return \`${shown(output)}\`.`, node};
      }
    } catch (error) {
      if (!(error instanceof PythonError || error instanceof OutsideTheLab)) throw error;
      return {message: `${fails}: ${error.message.split("\n")[0]}`};
    }
  },
};

/** @param {Pick<Puzzle, "rules" | "steps">} puzzle @param {GraphModule} module @param {any[]} history @returns {Fault | undefined} */
export const judge = ({rules: [[kind, ...given], ...others], steps}, module, history) => {
  const rest = () => others.length ? judge({rules: others, steps}, module, history) : undefined;
  return RULES[kind]({module, history, steps, rest}, ...given) || rest();
};
