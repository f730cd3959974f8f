// The rows of a drawing: what the list of nodes looks like from outside.
import {placesOf} from "./text.js";

/** @param {import("./graph.js").Graph} graph @returns {import("./layout.js").Row[]} */
export const rowsOf = graph => graph.nodes.map(node => {
  const places = placesOf(node);
  return {
    op: node.op, name: node.name, inputs: places.map(([, input]) => graph.nodes.indexOf(input)),
    labels: places.length > 1 ? places.map(([place]) => place) : [],
  };
});
