// The forms of a lab: each asks for what an action needs, and returns the action.
import {NOTHING, aimed, argumentField, choice, labelled, make, nodeOptions, textField, withCode} from "./fields.js";

/**
 * @typedef {{title: string, button: string, parts: any[], action: () => any, point?: (name: string) => void}} Form
 * @typedef {import("./graph.js").Graph} Graph
 * @typedef {import("./node.js").Node} Node
 */

/** The parameters of what is called. @param {Graph} graph @param {string} op @param {string} target @returns {[string, string][]} */
const parametersOf = (graph, op, target) => {
  if (op === "call_function") return graph.data.functions[target].parameters;
  if (op === "call_method") return graph.data.functions[`torch.${target}`].parameters.map(([name, kind], at) => at ? [name, kind] : ["self", "node"]);
  return op === "call_module" ? [["input", "tensor"]] : op === "output" ? [["result", "tensor"]] : [];
};

const targetsOf = (graph, op) => ({
  call_function: Object.keys(graph.data.functions), call_method: graph.data.methods, call_module: Object.keys(graph.data.modules),
  get_attr: Object.keys(graph.data.attributes), placeholder: [], output: [],
})[op];

const OPCODES = {
  call_function: "call_function: call a function", call_method: "call_method: call a method of a value",
  call_module: "call_module: call a layer", get_attr: "get_attr: fetch a weight", placeholder: "placeholder: take an input",
  output: "output: return a value",
};
const OPTIONAL = {dim: true, inplace: true};
/** Names that an input can have: with others the generated code would not be Python, or would not get its module. */
const NAME = new RegExp("^(?!(False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if"
  + "|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield|self)$)[A-Za-z_][A-Za-z0-9_]*$");

const marked = field => {
  field.classList.add("fx-lab-aim");
  return field;
};

/** @param {Graph} graph @param {"before" | "after"} [where] @param {string} [anchor] @returns {Form} */
export const createForm = (graph, where, anchor) => {
  const area = make("span", {class: "fx-lab-arguments"});
  // A node before the anchor cannot use it; usually it should use what the anchor uses.
  const beside = graph.find(anchor), near = where === "before" ? [...beside.inputs][0] : beside && beside.op !== "output" ? beside : undefined;
  /** @type {{name: string, field: any, keyword: any, optional: any}[]} */
  let fields = [];
  const possible = Object.entries(OPCODES).filter(([op]) => op === "placeholder" || op === "output" || targetsOf(graph, op).length);
  const kind = choice(possible, "call_function", () => targets());
  const target = choice([], "", () => parameters());
  const input = textField(NAME, "Write a name that Python allows: letters, digits and _, and not a keyword", {value: "z", size: 8, maxlength: 30, required: true});
  const targetField = labelled("target", target), inputField = labelled("name", input);
  const targets = () => {
    const names = targetsOf(graph, kind.value);
    target.replaceChildren(...names.map(name => make("option", {value: name}, name)));
    targetField.hidden = target.disabled = !names.length;
    inputField.hidden = input.disabled = kind.value !== "placeholder";
    parameters();
  };
  const parameters = () => {
    const keywords = kind.value === "call_function" && graph.data.functions[target.value].keywords;
    fields = parametersOf(graph, kind.value, target.value).map(([name, what], at) => {
      const field = argumentField(graph, name, {kind: what, nodeOnly: what === "node"});
      if (near && what !== "list" && !at) field.point(near.name);
      const keyword = make("input", {type: "checkbox"}), optional = make("input", {type: "checkbox"});
      if (OPTIONAL[name]) {
        field.element.prepend(make("label", {}, optional, `pass ${name} (optional)`));
        // An argument that the reader fills in is meant to be passed.
        field.element.addEventListener("input", event => { optional.checked ||= event.target !== optional && event.target !== keyword; });
      } else optional.checked = true;
      if (keywords) field.element.append(make("label", {}, keyword, `by keyword, ${name}=…`));
      return {name, field, keyword, optional};
    });
    area.replaceChildren(...fields.map(({field}) => field.element));
    point = fields.length ? aimed(fields.map(({field, optional}) => ({...field, point: name => {
      optional.checked = true;
      field.point(name);
    }}))) : undefined;
  };
  /** @type {((name: string) => void) | undefined} */
  let point;
  targets();
  return {
    title: anchor ? `New node ${where} \`${anchor}\`` : "New node at the end of the list", button: "Create",
    parts: [labelled("kind", kind), targetField, inputField, area],
    point: name => point && point(name),
    action: () => {
      const used = fields.filter(field => field.optional.checked);
      const args = used.filter(field => !field.keyword.checked).map(field => field.field.value());
      const kwargs = Object.fromEntries(used.filter(field => field.keyword.checked).map(field => [field.name, field.field.value()]));
      const named = {placeholder: input.value, output: "output"}[kind.value];
      return {do: "create", op: kind.value, target: named || target.value, args, kwargs, ...anchor ? {where, anchor} : {}};
    },
  };
};

/** @param {Graph} graph @param {Node} node @returns {Form | undefined} */
export const argumentsForm = (graph, node) => {
  if (node.op === "placeholder" || node.op === "get_attr") return undefined;
  const names = parametersOf(graph, node.op, node.target).map(([name]) => name);
  const fields = node.args.map((now, at) => argumentField(graph, `args[${at}]${names[at] ? ` (${names[at]})` : ""}`,
    {now, nodeOnly: node.op === "call_method" && !at}));
  const named = Object.entries(node.kwargs).map(([key, now]) => ({key, field: argumentField(graph, `kwargs["${key}"]`, {now})}));
  const all = [...fields, ...named.map(({field}) => field)];
  if (!all.length) return undefined;
  return {
    title: `Arguments of \`${node.name}\``, button: "Set", point: aimed(all),
    parts: [make("span", {class: "fx-lab-arguments"}, ...all.map(field => field.element))],
    action: () => ({do: "set", node: node.name, args: fields.map(field => field.value()),
      kwargs: Object.fromEntries(named.map(({key, field}) => [key, field.value()]))}),
  };
};

/** @param {Graph} graph @param {Node} node @returns {Form | undefined} */
export const replaceForm = (graph, node) => {
  if (!node.users.size) return undefined;
  const other = choice([NOTHING, ...nodeOptions(graph).filter(([name]) => name !== node.name)], "");
  const boxes = [...node.users].map(user => ({user: user.name, box: make("input", {type: "checkbox", checked: true})}));
  return {
    title: `Replace the uses of \`${node.name}\``, button: "Replace", point: name => { other.value = name; },
    parts: [marked(labelled("with", other)), make("fieldset", {}, make("legend", {}, "in"),
      ...boxes.map(({user, box}) => make("label", {}, box, user)))],
    action: () => {
      const only = boxes.filter(({box}) => box.checked).map(({user}) => user);
      return {do: "replace", old: node.name, new: other.value, ...only.length < boxes.length ? {only} : {}};
    },
  };
};

/** @param {Graph} graph @param {Node} node @returns {Form | undefined} */
export const inputForm = (graph, node) => {
  if (!node.inputs.size) return undefined;
  const old = choice([...node.inputs].map(input => [input.name, input.name])), other = choice([NOTHING, ...nodeOptions(graph)], "");
  return {
    title: `Replace an input of \`${node.name}\``, button: "Replace", point: name => { other.value = name; },
    parts: [labelled("every use of", old), marked(labelled("with", other))],
    action: () => ({do: "input", node: node.name, old: old.value, new: other.value}),
  };
};

/** @param {Graph} graph @param {Node} node @returns {Form | undefined} */
export const targetForm = (graph, node) => {
  if (!targetsOf(graph, node.op).length) return undefined;
  const target = choice(targetsOf(graph, node.op).map(name => [name, name]), node.target);
  return {title: `What \`${node.name}\` ${node.op === "get_attr" ? "fetches" : "calls"}`, button: "Set",
    parts: [labelled("target", target), make("p", {class: "fx-lab-point"}, ...withCode(`The opcode stays \`${node.op}\`. For another one, create a new node.`))],
    action: () => ({do: "target", node: node.name, target: target.value})};
};

/** @param {Graph} graph @param {Node} node @returns {Form | undefined} */
export const moveForm = (graph, node) => {
  const where = choice([["before", "before"], ["after", "after"]]);
  const anchor = choice([NOTHING, ...nodeOptions(graph).filter(([name]) => name !== node.name)], "");
  return {title: `Move \`${node.name}\``, button: "Move", point: name => { anchor.value = name; },
    parts: [labelled("place", where), marked(labelled("node", anchor))],
    action: () => ({do: "move", node: node.name, where: where.value, anchor: anchor.value})};
};
