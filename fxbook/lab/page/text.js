// What torch prints: the text of a graph and the code of its module, byte for byte.
import {Node, PythonError} from "./node.js";

/** @param {number} value @returns {string} as Python's `repr` of a float */
const float = value => {
  if (!Number.isFinite(value)) return String(value).replace("Infinity", "inf").toLowerCase();
  const [digits, power] = value.toExponential().split("e"), size = Math.abs(Number(power));
  if (Number(power) < -4 || Number(power) > 15) return `${digits}e${power[0]}${String(size).padStart(2, "0")}`;
  return (Object.is(value, -0) ? "-" : "") + (Number.isInteger(value) ? value.toFixed(1) : String(value));
};

/**
 * @param {import("./node.js").Argument} argument
 * @param {{node?: (name: string) => string, quote?: boolean}} [how] how the name of a node is written; whether a string has quotes
 * @returns {string}
 */
export const argumentText = (argument, {node = name => name, quote = true} = {}) => {
  const inner = item => argumentText(item, {node, quote});
  if (argument === null) return "None";
  if (argument instanceof Node) return node(argument.name);
  if (Array.isArray(argument)) return `[${argument.map(inner).join(", ")}]`;
  if (typeof argument === "string") return quote ? `'${argument}'` : argument;
  if (typeof argument === "boolean") return argument ? "True" : "False";
  if (typeof argument === "number") return String(argument);
  if ("float" in argument) return float(argument.float);
  return `(${argument.tuple.map(inner).join(", ")}${argument.tuple.length === 1 ? "," : ""})`;
};

const pairs = (kwargs, separator, how) => Object.entries(kwargs).map(([key, value]) => key + separator + argumentText(value, how));

/** `str(graph)`. @param {import("./graph.js").Graph} graph */
export const graphText = graph => "graph():" + graph.nodes.map(node => "\n    " + nodeText(graph, node)).join("");

/** `Node.format_node`. @param {import("./graph.js").Graph} graph @param {Node} node */
export const nodeText = (graph, node) => {
  const {op, name, target, args, kwargs, users} = node;
  if (op === "output") return `return ${argumentText(args[0], {quote: typeof args[0] !== "string"})}`;
  const head = `%${name} : [num_users=${users.size}] = ${op}[target=${op === "call_function" ? graph.data.functions[target].shown : target}]`;
  if (op === "placeholder") return head + (args.length ? `(default=${argumentText(args[0], {quote: typeof args[0] !== "string"})})` : "");
  if (op === "get_attr") return head;
  const how = {node: name => `%${name}`, quote: false};
  return `${head}(args = ${argumentText({tuple: args}, how)}, kwargs = {${pairs(kwargs, ": ", how).join(", ")}})`;
};

const path = target => target.split(".").reduce((base, part) =>
  /^[A-Za-z_]\w*$/.test(part) ? `${base}.${part}` : `getattr(${base}, "${part}")`, "self");

const call = (args, kwargs) => `(${[...args.map(item => argumentText(item)), ...pairs(kwargs, " = ")].join(", ")})`;

/** @param {import("./graph.js").Graph} graph @param {Node} node @returns {string} the line that makes the value of a node */
const line = (graph, {op, name, target, args, kwargs}) => {
  switch (op) {
    case "output": return `return ${argumentText(args[0])}`;
    case "get_attr": return `${name} = ${path(target)}`;
    case "call_module": return `${name} = ${path(target)}${call(args, kwargs)}`;
    case "call_method": return `${name} = ${argumentText(args[0])}.${target}${call(args.slice(1), kwargs)}`;
  }
  const {code, format} = graph.data.functions[target];
  if (!format) return `${name} = ${code}${call(args, kwargs)}`;
  let at = 0;
  return `${name} = ${format.replace(/\{\}/g, () => {
    if (at >= args.length) throw new PythonError("IndexError", `Replacement index ${at} out of range for positional args tuple`);
    return argumentText(args[at++]);
  })}`;
};

/** The source that `recompile` generates. @param {import("./graph.js").Graph} graph */
export const codeText = graph => {
  /** @type {Map<Node, Node[]>} */
  const freed = new Map();
  const seen = new Set();
  for (const node of [...graph.nodes].reverse()) {
    for (const input of node.inputs) {
      if (!seen.has(input)) freed.set(node, [...freed.get(node) || [], input]);
      seen.add(input);
    }
  }
  const free = ["self"], body = [];
  for (const node of graph.nodes) {
    if (node.op === "placeholder") {
      free.push(node.target + (node.args.length ? ` = ${argumentText(node.args[0])}` : ""));
      if (node.target !== node.name) body.push(`${node.name} = ${node.target}`);
      continue;
    }
    const unused = [...freed.get(node) || [], ...node.users.size || node.op === "output" ? [] : [node]];
    const release = unused.length && node.op !== "output" ? `;  ${unused.map(one => one.name).join(" = ")} = None` : "";
    body.push(line(graph, node) + release);
  }
  if (!graph.nodes.length) body.push("pass");
  return `\n\n\ndef forward(${free.join(", ")}):\n${[...body, ""].map(text => "    " + text).join("\n")}`;
};

/** The nodes that an argument holds, each with its place: `0`, `0.1` or a keyword. @returns {[string, Node][]} */
export const placesOf = ({args, kwargs}) => {
  /** @type {[string, Node][]} */
  const found = [];
  const walk = (value, place) => {
    if (value instanceof Node) found.push([place, value]);
    else if (value && typeof value === "object") (value.tuple || (Array.isArray(value) ? value : [])).forEach((item, at) => walk(item, `${place}.${at}`));
  };
  args.forEach((item, at) => walk(item, String(at)));
  Object.entries(kwargs).forEach(([key, item]) => walk(item, key));
  return found;
};
