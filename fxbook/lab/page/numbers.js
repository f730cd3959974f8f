// Small tensors, and what the functions, methods and layers of a lab compute with them.
import {index, sum} from "./dimensions.js";
import {OutsideTheLab, PythonError} from "./node.js";
import {OPERATORS, classOf, itemsOf, numberOf, truth} from "./operators.js";

/** @typedef {import("./data.js").Tensor} Tensor */

export const isTensor = value => value !== null && typeof value === "object" && Array.isArray(value.data);

const strides = shape => shape.map((_, at) => shape.slice(at + 1).reduce((a, b) => a * b, 1));

/** The shape of two broadcast shapes. @param {number[]} a @param {number[]} b */
const broadcast = (a, b) => {
  const size = Math.max(a.length, b.length), shape = [];
  for (let back = 1; back <= size; back++) {
    const p = a[a.length - back] ?? 1, q = b[b.length - back] ?? 1;
    if (p !== q && p !== 1 && q !== 1) {
      throw new PythonError("RuntimeError",
        `The size of tensor a (${p}) must match the size of tensor b (${q}) at non-singleton dimension ${size - back}`);
    }
    shape.unshift(p === 1 ? q : p);
  }
  return shape;
};

const asTensor = value => {
  if (isTensor(value)) return value;
  const number = numberOf(value);
  if (number === undefined) throw new OutsideTheLab("a tensor or a number is needed here");
  return {shape: [], data: [number]};
};

const needTensor = value => {
  if (!isTensor(value)) throw new OutsideTheLab("a tensor is needed here");
  return value;
};

const unary = f => value => ({shape: needTensor(value).shape, data: value.data.map(f)});

const binary = f => (a, b) => {
  if (!isTensor(a) && !isTensor(b)) {
    const numbers = numberOf(a) !== undefined && numberOf(b) !== undefined;
    throw new OutsideTheLab(numbers ? "a lab applies the functions of torch to float64 tensors only, and here both are numbers" : "a tensor is needed here");
  }
  const [p, q] = [asTensor(a), asTensor(b)], shape = broadcast(p.shape, q.shape);
  const at = (tensor, index) => {
    const skip = shape.length - tensor.shape.length, steps = strides(tensor.shape);
    return tensor.data[tensor.shape.reduce((sum, size, k) => sum + (size === 1 ? 0 : index[k + skip] * steps[k]), 0)];
  };
  const total = shape.reduce((x, y) => x * y, 1), steps = strides(shape);
  const data = Array.from({length: total}, (_, flat) => {
    const index = shape.map((size, k) => Math.floor(flat / steps[k]) % size);
    return f(at(p, index), at(q, index));
  });
  return {shape, data};
};

/** The error function, to about 1e-15: its Taylor series near zero, a continued fraction far from it. */
const erf = x => {
  const a = Math.abs(x);
  if (a < 3) {
    let term = a, sum = a;
    for (let n = 1; Math.abs(term) > 1e-18 * Math.abs(sum); n++) {
      term *= -a * a / n;
      sum += term / (2 * n + 1);
    }
    return Math.sign(x) * 2 / Math.sqrt(Math.PI) * sum;
  }
  let fraction = 0;
  for (let n = 60; n > 0; n--) fraction = n / 2 / (a + fraction);
  return Math.sign(x) * (1 - Math.exp(-a * a) / Math.sqrt(Math.PI) / (a + fraction));
};

const roundHalfToEven = x => {
  const floor = Math.floor(x), rest = x - floor;
  return rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor : floor + 1;
};

const maths = {
  sin: Math.sin, cos: Math.cos, tan: Math.tan, tanh: Math.tanh, exp: Math.exp, abs: Math.abs, sqrt: Math.sqrt,
  neg: x => -x, round: roundHalfToEven, sigmoid: x => 1 / (1 + Math.exp(-x)), relu: x => Math.max(x, 0),
  gelu: x => x / 2 * (1 + erf(x / Math.SQRT2)),
};
const arithmetic = {
  add: binary((a, b) => a + b), sub: (a, b) => {
    if (typeof a === "boolean" || typeof b === "boolean") throw new OutsideTheLab("a lab does not subtract with True or False");
    return binary((x, y) => x - y)(a, b);
  }, mul: binary((a, b) => a * b), truediv: binary((a, b) => a / b),
};

const cat = (tensors, dim = 0) => {
  const all = itemsOf(tensors);
  if (!all || !all.length) throw new OutsideTheLab("a list of tensors is needed here");
  all.forEach(needTensor);
  // torch skips tensors of the shape (0,).
  tensors = all.filter(one => one.shape.join() !== "0");
  if (!tensors.length) return all[0];
  const rank = tensors[0].shape.length, along = dim < 0 ? dim + rank : dim;
  if (!Number.isInteger(along) || along < 0 || along >= rank) throw new OutsideTheLab("it has no such dimension");
  tensors.forEach((tensor, at) => {
    if (tensor.shape.length !== rank || tensor.shape.some((size, k) => k !== along && size !== tensors[0].shape[k]))
      throw new OutsideTheLab(`tensor ${at} has a different shape`);
  });
  const outer = tensors[0].shape.slice(0, along).reduce((a, b) => a * b, 1);
  const shape = tensors[0].shape.map((size, k) => k === along ? tensors.reduce((sum, one) => sum + one.shape[k], 0) : size);
  const data = [];
  for (let row = 0; row < outer; row++) {
    for (const one of tensors) {
      const width = one.data.length / outer;
      data.push(...one.data.slice(row * width, (row + 1) * width));
    }
  }
  return {shape, data};
};

const linear = ({weight, bias}) => value => {
  const {shape, data} = needTensor(value), [out, width] = weight.shape;
  if (shape[shape.length - 1] !== width) throw new OutsideTheLab("the last dimension does not match the weight");
  const rows = data.length / width;
  const result = Array.from({length: rows * out}, (_, at) => {
    const row = Math.floor(at / out), column = at % out;
    let sum = bias ? bias.data[column] : 0;
    for (let k = 0; k < width; k++) sum += data[row * width + k] * weight.data[column * width + k];
    return sum;
  });
  return {shape: [...shape.slice(0, -1), out], data: result};
};

/** `bool(value)`, also for a tensor. */
const holds = value => {
  if (!isTensor(value)) return truth(value);
  if (value.data.length === 1) return value.data[0] !== 0;
  throw new PythonError("RuntimeError", `Boolean value of Tensor with ${value.data.length ? "more than one value" : "no values"} is ambiguous`);
};

/** @type {Record<string, Function>} */
const FUNCTIONS = {
  "torch.cat": cat,
  "torch._assert": (condition, message) => {
    const missing = condition === undefined ? "condition" : message === undefined && "message";
    if (missing) throw new PythonError("TypeError", `_assert() missing 1 required positional argument: '${missing}'`);
    if (holds(condition)) return null;
    if (typeof message !== "string") throw new OutsideTheLab("its message is not a string");
    throw new PythonError("AssertionError", message);
  },
  "torch.sum": (value, dim) => sum(needTensor(value), dim),
  "torch.nn.functional.relu": (value, inplace = false) => {
    if (holds(inplace)) throw new OutsideTheLab("a lab does not write into a tensor in place");
    return unary(maths.relu)(value);
  },
  "torch.nn.functional.gelu": unary(maths.gelu),
};
for (const [name, f] of Object.entries(maths)) if (name !== "gelu") FUNCTIONS[`torch.${name}`] = unary(f);
for (const [name, f] of Object.entries(arithmetic)) FUNCTIONS[`torch.${name}`] = f;
/** Python asks a tensor first what an operator does with it. */
const ON_TENSORS = {...arithmetic, neg: unary(maths.neg), getitem: (held, at) => index(needTensor(held), at)};
for (const [name, f] of Object.entries(OPERATORS))
  FUNCTIONS[`operator.${name}`] = (...args) => (args.some(isTensor) ? ON_TENSORS[name] : f)(...args);

const LAYERS = {
  ReLU: () => unary(maths.relu), GELU: () => unary(maths.gelu), Tanh: () => unary(Math.tanh), Sigmoid: () => unary(maths.sigmoid),
  Identity: () => value => value, Dropout: () => needTensor, Linear: linear,
};

/** The arguments in the order of the parameters. @param {[string, string][]} parameters name and kind */
const bind = (parameters, args, kwargs) => {
  const bound = [...args], names = parameters.map(([name]) => name);
  if (args.length > names.length) throw new OutsideTheLab(`it takes at most ${names.length} arguments`);
  for (const [key, value] of Object.entries(kwargs)) {
    const at = names.indexOf(key);
    if (at < 0 || at in bound) throw new OutsideTheLab(`it does not take the keyword argument ${key} here`);
    bound[at] = value;
  }
  return bound;
};

/** @param {string} name @param {{parameters: [string, string][], keywords: boolean}} about @param {any[]} args @param {Record<string, any>} kwargs */
export const callFunction = (name, {parameters, keywords}, args, kwargs) => {
  if (!keywords && Object.keys(kwargs).length) throw new OutsideTheLab("it takes no keyword arguments");
  return FUNCTIONS[name](...bind(parameters, args, kwargs));
};

/** Python looks for a method before it reads the arguments. @param {any} value @param {string} name one of the methods of a tensor */
export const checkMethod = (value, name) => {
  if (!isTensor(value)) throw new PythonError("AttributeError", `'${classOf(value)}' object has no attribute '${name}'`);
};

/** @param {{layer: string}} layer @param {any[]} args @param {Record<string, any>} kwargs */
export const callLayer = (layer, args, kwargs) => LAYERS[layer.layer](layer)(...bind([["input", "tensor"]], args, kwargs));
