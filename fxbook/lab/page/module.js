// A module with two programs, as in torch.fx: the graph, which edits change, and the code that the last recompile made.
import {Graph} from "./graph.js";
import {PythonError, mapNodes} from "./node.js";
import {callFunction, callLayer, checkMethod} from "./numbers.js";
import {codeText} from "./text.js";

export class GraphModule {
  /** @param {import("./data.js").GraphData} data @param {Graph} [graph] the graph of another module */
  constructor(data, graph = new Graph(data)) {
    this.data = data;
    this.graph = graph;
    this.code = "";
    /** @type {{op: string, name: string, target: string, args: any[], kwargs: Record<string, any>}[]} */
    this.program = undefined;
    /** @type {string[]} */
    this.freed = [];
    this.recompile();
  }

  /** Whether the code differs from what the graph would give now; if the graph gives none, the code is stale, too. */
  get stale() {
    try {
      return this.code !== codeText(this.graph);
    } catch {
      return true;
    }
  }

  /** Stores the code, then compiles it: if that fails, the module keeps running the previous program. */
  recompile() {
    this.code = codeText(this.graph);
    // Until it compiles.
    this.refused = true;
    const parameters = this.graph.nodes.filter(node => node.op === "placeholder");
    const names = parameters.map(node => node.target);
    if (parameters.length === this.graph.nodes.length && parameters.every(node => node.target === node.name) && parameters.length) {
      throw new PythonError("IndentationError", "expected an indented block after function definition on line 4");
    }
    const twice = names.find((name, at) => names.indexOf(name) < at);
    if (twice) throw new PythonError("SyntaxError", `duplicate argument '${twice}' in function definition`);
    this.refused = false;
    /** @type {Map<import("./node.js").Node, import("./node.js").Node>} */
    const lastUser = new Map(this.graph.nodes.flatMap(user => [...user.inputs].map(input => [input, user])));
    // To free a value, its last user sets the variable to None, so the variable is local to the function.
    this.freed = [...lastUser].filter(([, user]) => user.op !== "output" && user.op !== "placeholder").map(([input]) => input.name);
    const freeze = value => mapNodes(value, node => /** @type {any} */ ({local: node.name}));
    this.program = this.graph.nodes.map(({op, name, target, args, kwargs}) => ({
      op, name, target, args: args.map(freeze),
      kwargs: Object.fromEntries(Object.entries(kwargs).map(([key, value]) => [key, freeze(value)])),
    }));
  }

  /** The inputs that the compiled program takes, in order. @returns {string[]} */
  get parameters() {
    return this.program.filter(step => step.op === "placeholder").map(step => step.target);
  }

  /** @param {any[]} inputs one for each parameter of the compiled program */
  run(inputs) {
    /** @type {Map<string, any>} the values of the last run, by the name of the node */
    const locals = this.locals = new Map(this.parameters.map((name, at) => [name, inputs[at]]));
    const assigned = new Set([...this.parameters, ...this.freed, ...this.program.filter(step => step.op !== "output").map(step => step.name)]);
    const value = argument => {
      if (Array.isArray(argument)) return argument.map(value);
      if (argument === null || typeof argument !== "object") return argument;
      if (argument.tuple) return {tuple: argument.tuple.map(value)};
      if (!argument.local) return argument;
      if (!assigned.has(argument.local)) throw new PythonError("NameError", `name '${argument.local}' is not defined`);
      if (!locals.has(argument.local)) {
        throw new PythonError("UnboundLocalError",
          `cannot access local variable '${argument.local}' where it is not associated with a value`);
      }
      return locals.get(argument.local);
    };
    for (const {op, name, target, args, kwargs} of this.program) {
      if (op === "output") return value(args[0]);
      if (op === "placeholder") {
        locals.set(name, locals.get(target));
        continue;
      }
      const called = op === "call_function" ? target : `torch.${target}`, about = this.data.functions[called];
      // In the code, an operator is a sign with as many arguments as the sign takes; further arguments are dropped.
      const places = op === "call_function" && about.format ? about.format.split("{}").length - 1 : Infinity;
      if (op === "call_method") checkMethod(value(args[0]), target);
      const given = args.slice(0, places).map(value);
      const named = Object.fromEntries(places < Infinity ? [] : Object.entries(kwargs).map(([key, item]) => [key, value(item)]));
      if (op === "get_attr") locals.set(name, this.data.attributes[target]);
      else if (op === "call_function" || op === "call_method") locals.set(name, callFunction(called, about, given, named));
      else locals.set(name, callLayer(this.data.modules[target], given, named));
    }
    return null;
  }
}
