// The tools for the chosen node: a button for each form, and the reason where a form does not apply.
import {make} from "./fields.js";
import {argumentsForm, createForm, inputForm, moveForm, replaceForm, targetForm} from "./forms.js";
import {callOf} from "./panels.js";

/**
 * @param {import("./graph.js").Graph} graph @param {import("./node.js").Node | undefined} node
 * @param {{open: (form: import("./forms.js").Form) => void, say: (text: string) => void, act: (action: import("./actions.js").Action) => void}} lab
 * @returns {HTMLElement[]}
 */
export const toolsOf = (graph, node, {open, say, act}) => {
  if (!node) return [make("span", {class: "fx-lab-none"}, "Choose a node in the picture or in the list to edit it.")];
  const button = (text, form, why = "") => make("button", {type: "button", "aria-disabled": String(!form()),
    onclick: () => form() ? open(form()) : say(why)}, text);
  return [make("span", {class: "fx-lab-chosen"}, make("strong", {}, node.name), " ", make("code", {},
      node.op === "placeholder" ? node.op : `${node.op === "output" ? "return " : ""}${callOf(graph, node)}`)),
    button("Insert before", () => createForm(graph, "before", node.name)), button("Insert after", () => createForm(graph, "after", node.name)),
    button("Change its arguments", () => argumentsForm(graph, node), `\`${node.name}\` does not have arguments to change.`),
    button(node.op === "get_attr" ? "Change what it fetches" : "Change what it calls", () => targetForm(graph, node), `\`${node.name}\` does not call anything.`),
    button("Make its users use another node", () => replaceForm(graph, node), `No node uses \`${node.name}\`.`),
    button("Use another input", () => inputForm(graph, node), `\`${node.name}\` does not use a node.`),
    button("Move", () => moveForm(graph, node)),
    make("button", {type: "button", onclick: () => act({do: "erase", node: node.name})}, "Erase")];
};
