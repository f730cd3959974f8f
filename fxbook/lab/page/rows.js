// The rows of a drawing: what the list of nodes looks like from outside.
import {snakeCase} from "./names.js";
import {placesOf} from "./text.js";

/** What a node calls, where its name does not say it. @param {import("./graph.js").Graph} graph @param {import("./node.js").Node} node */
const wordsOf = ({data}, {op, name, target}) => {
  if (op === "call_module") return data.modules[target] ? [data.modules[target].layer] : [];
  const base = op === "call_function" ? data.functions[target].name : op === "call_method" ? snakeCase(target) : "";
  return base && base !== name.replace(/_\d+$/, "") ? [op === "call_function" ? data.functions[target].shown : `.${target}()`] : [];
};

/** @param {import("./graph.js").Graph} graph @returns {import("./layout.js").Row[]} */
export const rowsOf = graph => graph.nodes.map(node => {
  const places = placesOf(node);
  return {
    op: node.op, name: node.name, words: wordsOf(graph, node), inputs: places.map(([, input]) => graph.nodes.indexOf(input)),
    labels: places.length > 1 ? places.map(([place]) => place) : [],
  };
});
