// The actions of a reader, each with the line of Python that does the same.
import {GraphModule} from "./module.js";
import {argumentText} from "./text.js";

/**
 * @typedef {{do: "create", op: string, target: string, args: any[], kwargs: Record<string, any>,
 *            where?: "before" | "after", anchor?: string}
 *   | {do: "set", node: string, args: any[], kwargs: Record<string, any>}
 *   | {do: "replace", old: string, new: string, only?: string[]} | {do: "input", node: string, old: string, new: string}
 *   | {do: "target", node: string, target: string} | {do: "erase", node: string} | {do: "move", node: string, where: "before" | "after", anchor: string}
 *   | {do: "dead code"} | {do: "lint"} | {do: "recompile"} | {do: "run"}} Action
 */

/** @param {GraphModule} module @param {Action} action @returns {any} what Python returns, where that is worth showing */
export const perform = (module, action) => {
  const {graph} = module, find = name => graph.find(name);
  switch (action.do) {
    case "create": return graph.create({
      ...action, op: /** @type {any} */ (action.op), anchor: action.anchor ? find(action.anchor) : undefined,
      args: action.args.map(item => graph.read(item)), kwargs: readAll(graph, action.kwargs)});
    case "set": return graph.setArguments(find(action.node), action.args.map(item => graph.read(item)), readAll(graph, action.kwargs));
    case "replace": return graph.replaceAllUses(find(action.old), find(action.new), action.only && new Set(action.only));
    case "input": return graph.replaceInput(find(action.node), find(action.old), find(action.new));
    case "target": return graph.retarget(find(action.node), action.target);
    case "erase": return graph.erase(find(action.node));
    case "move": return graph.move(find(action.node), action.where, find(action.anchor));
    case "dead code": return graph.eliminateDeadCode();
    case "lint": return graph.lint();
    case "recompile": return module.recompile();
    case "run": return module.run(inputsOf(module));
  }
};

const readAll = (graph, kwargs) => Object.fromEntries(Object.entries(kwargs).map(([key, item]) => [key, graph.read(item)]));

/** Numbers for each input of the compiled program. @param {GraphModule} module */
export const inputsOf = module => module.parameters.map(name => module.data.inputs[name] || module.data.spare);

/** A variable for a node: its name, unless the script uses that name itself. @param {string} name */
export const variable = name => ["graph", "module", "torch", "fx", "nn", "operator", "inputs"].includes(name) ? `${name}_node` : name;

/** @param {GraphModule} module @param {any} item @returns {string} an argument as Python */
const python = (module, item) => argumentText(module.graph.read(item), {node: variable});

const tupleText = (module, args) => `(${args.map(item => python(module, item)).join(", ")}${args.length === 1 ? "," : ""})`;

/**
 * Python that does what the action does; call this before the action is done.
 * @param {GraphModule} module @param {Action} action @param {string} made the name that a new node will have
 * @returns {{head?: string, line: string}} a `with` line, if the action needs one, and the line itself
 */
export const pythonOf = (module, action, made = "") => {
  switch (action.do) {
    case "create": {
      const {op, target, args, kwargs} = action, quoted = `"${target}"`;
      const named = Object.entries(kwargs).map(([key, item]) => `"${key}": ${python(module, item)}`).join(", ");
      const rest = (args.length ? `, ${tupleText(module, args)}` : "") + (named ? `, ${args.length ? "" : "kwargs="}{${named}}` : "");
      const call = {
        placeholder: `placeholder(${quoted})`, get_attr: `get_attr(${quoted})`, output: `output(${python(module, args[0] ?? null)})`,
        call_function: `call_function(${module.data.functions[target] && module.data.functions[target].python}${rest})`,
        call_method: `call_method(${quoted}${rest})`, call_module: `call_module(${quoted}${rest})`,
      }[op];
      const line = `${variable(made)} = graph.${call}`;
      return action.anchor ? {head: `with graph.inserting_${action.where}(${variable(action.anchor)}):`, line} : {line};
    }
    case "set": {
      const node = module.graph.find(action.node), before = JSON.stringify, lines = [];
      const args = action.args.map(item => module.graph.read(item));
      if (args.length !== node.args.length || args.some((item, at) => argumentText(item) !== argumentText(node.args[at])))
        lines.push(`${variable(action.node)}.args = ${tupleText(module, action.args)}`);
      const named = Object.entries(action.kwargs).map(([key, item]) => `"${key}": ${python(module, item)}`).join(", ");
      if (before(Object.keys(action.kwargs)) !== before(Object.keys(node.kwargs)) ||
          Object.entries(action.kwargs).some(([key, item]) => python(module, item) !== argumentText(node.kwargs[key], {node: variable})))
        lines.push(`${variable(action.node)}.kwargs = {${named}}`);
      return {line: lines.join("\n") || `${variable(action.node)}.args = ${variable(action.node)}.args`};
    }
    case "replace": {
      const only = action.only && `, delete_user_cb=lambda user: user.name in {${action.only.map(name => `"${name}"`).join(", ")}}`;
      return {line: `${variable(action.old)}.replace_all_uses_with(${variable(action.new)}${only || ""})`};
    }
    case "input": return {line: `${variable(action.node)}.replace_input_with(${variable(action.old)}, ${variable(action.new)})`};
    case "target": {
      const called = module.data.functions[action.target];
      return {line: `${variable(action.node)}.target = ${module.graph.find(action.node).op === "call_function" ? called.python : `"${action.target}"`}`};
    }
    case "erase": return {line: `graph.erase_node(${variable(action.node)})`};
    case "move": return {line: `${variable(action.anchor)}.${action.where === "after" ? "append" : "prepend"}(${variable(action.node)})`};
    case "dead code": return {line: "graph.eliminate_dead_code()"};
    case "lint": return {line: "graph.lint()"};
    case "recompile": return {line: "module.recompile()"};
    case "run": return {line: `module(${module.parameters.map(name => `inputs["${name}"]`).join(", ")})`};
  }
};
