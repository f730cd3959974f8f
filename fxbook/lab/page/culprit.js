// Why the result of a puzzle is wrong: the first argument whose value differs from that in a correct graph, in any spelling.
import {isTensor} from "./numbers.js";
import {placesOf} from "./text.js";

/** @typedef {{calls: string, inputs: number[], value: any}} Step a node of a correct graph; its inputs are places in the list of steps */

/** @param {any} a @param {any} b @returns {boolean} */
export const close = (a, b) => {
  if (isTensor(a) && isTensor(b)) {
    return a.shape.join() === b.shape.join() && a.data.every((value, at) =>
      Math.abs(value - b.data[at]) <= 1e-9 + 1e-7 * Math.abs(b.data[at]));
  }
  if (a && a.tuple && b && b.tuple) return close(a.tuple, b.tuple);
  return Array.isArray(a) && Array.isArray(b) ? a.length === b.length && a.every((item, at) => close(item, b[at])) : a === b;
};

/** What a node does, in any spelling: as a function, an operator, a method or a layer. @param {import("./module.js").GraphModule} module @param {import("./node.js").Node} node */
export const callsOf = ({data}, {op, target}) => op === "call_module" ? data.modules[target].layer.toLowerCase()
  : op === "call_function" || op === "call_method" ? target.split(".").at(-1) : "";

/** A place among the arguments, as in Python. @param {string} place */
const inPython = place => {
  const [first, ...rest] = place.split(".");
  return `${/^\d/.test(first) ? `args[${first}]` : `kwargs["${first}"]`}${rest.map(at => `[${at}]`).join("")}`;
};

/** @param {Step[]} steps @param {import("./module.js").GraphModule} module it has run @returns {{message: string, node: string} | undefined} */
export const culprit = (steps, module) => {
  const has = (node, {value}) => close(module.locals.get(node.name), value);
  /** @param {Step} step @param {import("./node.js").Node} node */
  const search = ({inputs}, node) => {
    const places = placesOf(node), wanted = inputs.map(at => steps[at]);
    const wrong = places.length === wanted.length ? places.map(([place, input], at) => ({place, input, step: wanted[at]})).filter(({input, step}) => !has(input, step)) : [];
    const deeper = wrong.find(({input, step}) => step.calls && step.calls === callsOf(module, input));
    if (deeper) return search(deeper.step, deeper.input);
    // Of two swapped arguments of a sum, neither is wrong.
    const strange = wrong.find(({input}) => !wanted.some(step => has(input, step))) || wrong[0];
    return {node: node.name, message: strange ? `Look at \`${node.name}\`: its \`${inPython(strange.place)}\` is \`${strange.input.name}\`, which is not the right value there. `
      : `Look at the arguments of \`${node.name}\`. `};
  };
  const output = module.graph.nodes.find(node => node.op === "output");
  return output && search(steps.at(-1), output);
};
