// Form fields in which a reader chooses nodes and values: native controls, so that keys, touch and screen readers work.
import {Node} from "./node.js";
import {argumentText} from "./text.js";

/** @param {string} name @param {Record<string, any>} [attributes] @param {...(Element | string)} inside @returns {any} */
export const make = (name, attributes = {}, ...inside) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...inside);
  return element;
};

/** Text in which names between backquotes are code. @param {string} text @returns {(string | HTMLElement)[]} */
export const withCode = text => text.split("`").map((part, at) => at % 2 ? make("code", {}, part) : part);

/**
 * Keeps the active control in its place on the screen while the text above it grows or shrinks, if the message stays visible.
 * @param {HTMLElement} said @returns {() => void} a function to call afterwards
 */
export const staying = said => {
  const control = document.activeElement, top = control.getBoundingClientRect().top;
  return () => {
    if (control.getClientRects().length && control !== document.body) scrollBy(0, control.getBoundingClientRect().top - top);
    said.scrollIntoView({block: "nearest"});
  };
};

let serial = 0;

/** A label and its control. @param {string} text @param {any} control */
export const labelled = (text, control) => {
  control.id = control.id || `fx-lab-${++serial}`;
  return make("span", {class: "fx-lab-field"}, make("label", {for: control.id}, text), control);
};

/** @param {[string, string][]} options value and text @param {string} [chosen] @param {() => void} [changed] */
export const choice = (options, chosen, changed) => {
  const select = make("select", {required: true, ...changed ? {onchange: changed} : {}});
  for (const [value, text] of options) select.append(make("option", {value, selected: value === chosen}, text));
  return select;
};

/** The option that a list of choices shows until the reader chooses. @type {[string, string]} */
export const NOTHING = ["", "choose …"];
/** Phone keyboards must not change what is typed. */
const AS_TYPED = {autocapitalize: "none", autocomplete: "off", spellcheck: "false"};

/** A text field that says what is wrong with its text. @param {RegExp} right @param {string} why @param {Record<string, any>} attributes */
export const textField = (right, why, attributes) => {
  const input = make("input", {type: "text", ...AS_TYPED, ...attributes,
    oninput: () => input.setCustomValidity(!input.value || right.test(input.value) ? "" : why)});
  return input;
};

/** @typedef {{element: any, value: () => any, point: (name: string) => void, empty: () => boolean, takesNode: () => boolean, listed: () => boolean}} Field */

/**
 * Puts a node that the reader points at into the marked field: the first empty one, then the next one that can hold a node.
 * @param {Field[]} fields @returns {(name: string) => void}
 */
export const aimed = fields => {
  const firstEmpty = () => fields.findIndex(field => field.empty());
  let at = 0;
  const aim = now => {
    at = now;
    fields.forEach(({element}, k) => element.classList.toggle("fx-lab-aim", k === at));
  };
  fields.forEach(({element}, k) => element.addEventListener("focusin", () => aim(k)));
  aim(Math.max(firstEmpty(), 0));
  return name => {
    fields[at].point(name);
    if (fields[at].listed()) return;
    const next = firstEmpty() >= 0 ? firstEmpty() : fields.findIndex((field, k) => k > at && field.takesNode());
    if (next >= 0) aim(next);
  };
};

/** @param {import("./graph.js").Graph} graph @returns {[string, string][]} */
export const nodeOptions = graph => graph.nodes.map(node => [node.name, node.name]);

/** An argument as data, with nodes by name. @param {any} value */
export const asData = value => value instanceof Node ? {node: value.name} : Array.isArray(value) ? value.map(asData)
  : value && value.tuple ? {tuple: value.tuple.map(asData)} : value;

const NUMERAL = /^\s*-?\d{1,15}(\.\d{1,12})?\s*$/;
const parseNumber = text => /^-?\d+$/.test(text) ? Number(text) : {float: Number(text)};

/**
 * A field for one argument: a node, a number, a list of nodes, or the constant that is there now.
 * @param {import("./graph.js").Graph} graph @param {string} text the name of the parameter
 * @param {{kind?: string, now?: any, nodeOnly?: boolean}} [how]
 * @returns {Field}
 */
export const argumentField = (graph, text, {kind = "value", now, nodeOnly = false} = {}) => {
  const given = now === undefined ? undefined : asData(now);
  /** @type {string[]} */
  let listed = Array.isArray(given) && given.every(item => item && item.node) ? given.map(item => item.node) : [];
  const written = given === undefined ? "" : argumentText(now), number = NUMERAL.test(written) && typeof given !== "string";
  const constant = given !== undefined && !(given && given.node) && !number && !listed.length;
  const nodes = nodeOptions(graph).map(([name]) => [`node ${name}`, name]);
  const others = nodeOnly ? [] : [["number", "a number …"], ["list", "a list of nodes …"], ["None", "None"], ["True", "True"], ["False", "False"], ["text", "a string …"]];
  if (constant && given !== null && typeof given !== "boolean") others.unshift(["now", `${argumentText(now)} (as it is)`]);
  const start = given === undefined ? {number: "number", list: "list", text: "text", flag: "False"}[kind] || ""
    : given && given.node ? `node ${given.node}` : listed.length ? "list" : given === null ? "None"
    : typeof given === "boolean" ? (given ? "True" : "False") : constant ? "now" : "number";
  const numeral = textField(NUMERAL, "Write a number such as 2, -1 or 0.5", {size: 6, required: true, value: number ? written : kind === "number" ? 0 : 1, "aria-label": `${text}: the number`});
  const words = textField(/^[^'"\\]*$/, "Leave out quotes and backslashes", {size: 12, maxlength: 60, value: "checked", "aria-label": `${text}: the string`});
  const items = make("span", {class: "fx-lab-items"});
  const more = choice([["", "add a node …"], ...nodeOptions(graph)], "", () => {
    if (more.value) listed = [...listed, more.value];
    more.value = "";
    show();
  });
  more.required = false;
  more.setAttribute("aria-label", `${text}: add a node to the list`);
  const select = choice(/** @type {any} */ ([...start ? [] : [NOTHING], ...nodes, ...others]), start, () => show());
  const show = () => {
    numeral.disabled = numeral.hidden = select.value !== "number";
    words.disabled = words.hidden = select.value !== "text";
    items.hidden = select.value !== "list";
    items.replaceChildren(...listed.map((name, at) => make("button", {type: "button", "aria-label": `take ${name} out of the list`,
      onclick: () => { listed = listed.filter((_, k) => k !== at); show(); }}, `${name} ✕`)), more);
  };
  show();
  return {
    element: make("span", {class: "fx-lab-argument"}, labelled(text, select), numeral, words, items),
    point: name => {
      if (select.value === "list") listed = [...listed, name];
      else select.value = `node ${name}`;
      show();
    },
    empty: () => !select.value,
    takesNode: () => select.value === "list" || select.value.startsWith("node "),
    listed: () => select.value === "list",
    value: () => {
      const chosen = select.value;
      if (chosen.startsWith("node ")) return {node: chosen.slice(5)};
      if (chosen === "number") return parseNumber(numeral.value.trim());
      if (chosen === "text") return words.value.replace(/['"\\]/g, "");
      if (chosen === "list") return listed.map(name => ({node: name}));
      if (chosen === "now") return given;
      return {None: null, True: true, False: false}[chosen];
    },
  };
};
