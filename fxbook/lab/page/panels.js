// What the panels of a lab show of a session: signs, list, code, and the Python that does the same.
import {explained} from "./book.js";
import {make} from "./fields.js";
import {argumentText} from "./text.js";
import {shown} from "./values.js";

export const LEGEND = ["Thick outline: the chosen node.", "Dashed outline: no node uses the result.", "Bold: changed by your last edit.",
  "Orange: `lint` reports an error there, or the puzzle is not solved because of it.",
  "A number on an arrow: the place among the arguments, counted from 0. 0.1 is the second item of the list in place 0.",
  "Small text in a node: what the node calls, if its name does not say so."];
const SIGNS = {added: "+", rewired: "↪", moved: "↕", retargeted: "≠", changed: "≠"};

/**
 * The marks of each node, by name: what the last edit did, and what is wrong now.
 * @param {import("./session.js").Session} session @param {string | undefined} picked @param {import("./puzzle.js").Fault | undefined} fault
 */
export const marksOf = ({module: {graph}, marks}, picked, fault) => new Map(graph.nodes.map(node => {
  const dead = !node.users.size && !graph.isImpure(node);
  return [node.name, [...marks.get(node.name) || [], ...dead ? ["dead"] : [], ...fault && fault.node === node.name ? ["broken"] : [],
    ...node.name === picked ? ["hot"] : []]];
}));

/** @param {import("./session.js").Session} session @returns {HTMLElement[]} */
export const signsOf = ({module, entries}) => {
  const last = entries.at(-1);
  let ordered = true;
  try {
    module.graph.lint();
  } catch {
    ordered = false;
  }
  /** @type {[string, boolean][]} */
  const signs = [[ordered ? "lint: no error" : "lint: error", ordered], module.refused
    ? ["code: does not compile, the old program runs", false] : [module.stale ? "code: stale" : "code: up to date", !module.stale]];
  if (last && last.ran) signs.push([`result: ${shown(last.result)}`, true]);
  return signs.map(([text, fine]) => make("span", {class: fine ? "fx-lab-sign" : "fx-lab-sign fx-lab-bad"}, text));
};

/** @param {import("./graph.js").Graph} graph @param {import("./node.js").Node} node */
export const callOf = (graph, {op, target, args, kwargs}) => {
  if (op === "output") return argumentText(args[0] ?? null);
  if (op === "placeholder" || op === "get_attr") return target;
  const given = [...args.map(item => argumentText(item)), ...Object.entries(kwargs).map(([key, item]) => `${key}=${argumentText(item)}`)];
  return `${op === "call_function" ? graph.data.functions[target].shown : target}(${given.join(", ")})`;
};

/** @param {import("./graph.js").Graph} graph @param {Map<string, string[]>} marks @param {string | undefined} picked */
export const tableOf = (graph, marks, picked) => make("table", {class: "fx-list", "aria-label": "Nodes, in list order"},
  make("thead", {}, make("tr", {}, ...["#", "node", "calls", "users"].map(text => make("th", {scope: "col"}, text)))),
  make("tbody", {}, ...graph.nodes.map((node, at) => {
    const own = marks.get(node.name), sign = [...new Set(own.map(mark => SIGNS[mark] || ""))].join("");
    return make("tr", {class: own.map(mark => `fx-${mark}`).join(" ")},
      make("td", {class: "fx-sign"}, `${at}${sign ? ` ${sign}` : ""}`),
      make("th", {scope: "row"},
        make("button", {type: "button", "data-fx-pick": node.name, "aria-pressed": String(node.name === picked)}, node.name),
        make("span", {class: "fx-opcode"}, node.op)),
      make("td", {}, make("code", {}, callOf(graph, node))),
      make("td", {}, [...node.users].map(user => user.name).join(", ") || "–"));
  })));

/** Lines of Python, each as a row of its own; what frees values is kept together. @param {string} text */
const pythonRows = text => text.split("\n").map(line => {
  const [, made, freed] = /^(.*;  )([\w =]+ = None)$/.exec(line) || [];
  return make("span", {class: "fx-row"}, ...freed ? [made, make("span", {class: "fx-lab-frees"}, freed)] : [line || " "]);
});

/** @param {import("./module.js").GraphModule} module @returns {HTMLElement[]} */
export const codeOf = module => [
  make("p", {class: "fx-heading"}, module.stale ? "Code, compiled before the last edit" : "Code"),
  make("pre", {class: `fx-code${module.stale ? " fx-stale" : ""}`, tabindex: 0}, ...pythonRows(module.code.trim()))];

/** A message, with a link to the entry that explains it. @param {string} message @returns {(string | HTMLElement)[]} */
export const linked = message => {
  const address = explained(message);
  return address ? [message, " ", make("a", {href: address, target: "_blank", rel: "noopener"}, "What it means")] : [message];
};

/** @param {import("./session.js").Session} session @returns {HTMLElement[]} */
export const scriptOf = ({script, entries}) => {
  const rows = pythonRows(script), last = entries.at(-1);
  if (last && last.error) rows.push(make("span", {class: "fx-row fx-lab-error"}, `${last.error.kind}: ${last.error.message}`));
  if (last && last.outside) rows.push(make("span", {class: "fx-row fx-lab-error"}, `The lab stops here: ${last.outside}. torch may continue.`));
  return rows;
};

/**
 * The message after an action. @param {import("./actions.js").Action} action @param {import("./session.js").Entry} entry
 * @returns {(string | HTMLElement)[]}
 */
export const saidOf = (action, {error, outside, result, line}) => {
  if (error) return [`${error.kind}: `, ...linked(error.message.split("\n")[0])];
  if (outside) return [`The lab stops here: ${outside}.`];
  switch (action.do) {
    case "run": return [`The module returns ${shown(result)}.`];
    case "lint": return ["lint found no error."];
    case "recompile": return ["Recompiled: the module now runs the code of this graph."];
    case "dead code": return [result ? "Dead nodes were deleted." : "There was no dead node to delete."];
    case "target": return ["Done: ", make("code", {}, line), ` (the node keeps its name, ${action.node})`];
    default: return ["Done: ", make("code", {}, line)];
  }
};
