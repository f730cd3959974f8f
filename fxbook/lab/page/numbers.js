// Small tensors, and what the functions, methods and layers of a lab compute with them.
import {PythonError} from "./node.js";

/** @typedef {{shape: number[], data: number[]}} Tensor a dense tensor of float64, rows first */

/** What torch would word, but a lab does not: the reader is told so instead of being told something else. */
export class OutsideTheLab extends Error {}

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
  const number = typeof value === "number" || typeof value === "boolean" ? Number(value) : value && typeof value === "object" && "float" in value ? value.float : undefined;
  if (number === undefined) throw new OutsideTheLab("a tensor or a number is needed here");
  return {shape: [], data: [number]};
};

const needTensor = value => {
  if (!isTensor(value)) throw new OutsideTheLab("a tensor is needed here");
  return value;
};

const unary = f => value => ({shape: needTensor(value).shape, data: value.data.map(f)});

const binary = f => (a, b) => {
  if (!isTensor(a) && !isTensor(b)) throw new OutsideTheLab("a tensor is needed here");
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
    if (typeof a === "boolean" || typeof b === "boolean") throw new OutsideTheLab("a tensor minus True or False");
    return binary((x, y) => x - y)(a, b);
  }, mul: binary((a, b) => a * b), truediv: binary((a, b) => a / b),
};

const cat = (tensors, dim = 0) => {
  if (!Array.isArray(tensors) || !tensors.length) throw new OutsideTheLab("a list of tensors is needed here");
  tensors.forEach(needTensor);
  const rank = tensors[0].shape.length, along = dim < 0 ? dim + rank : dim;
  if (!Number.isInteger(along) || along < 0 || along >= rank) throw new OutsideTheLab("it has no such dimension");
  tensors.forEach((tensor, at) => {
    if (tensor.shape.length !== rank || tensor.shape.some((size, k) => k !== along && size !== tensors[0].shape[k]))
      throw new OutsideTheLab(`tensor ${at} has another shape`);
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

/** `tensor[at]`. @param {Tensor} tensor @param {number} at @returns {Tensor} */
const row = ({shape: [size, ...rest], data}, at) => {
  if (size === undefined) {
    throw new PythonError("IndexError",
      "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
  }
  if (at < -size || at >= size) throw new PythonError("IndexError", `index ${at} is out of bounds for dimension 0 with size ${size}`);
  const width = data.length / size, start = (at < 0 ? at + size : at) * width;
  return {shape: rest, data: data.slice(start, start + width)};
};

const linear = ({weight, bias}) => value => {
  const {shape, data} = needTensor(value), [out, width] = weight.shape;
  if (shape[shape.length - 1] !== width) throw new OutsideTheLab("the last dimension does not fit the weight");
  const rows = data.length / width;
  const result = Array.from({length: rows * out}, (_, at) => {
    const row = Math.floor(at / out), column = at % out;
    let sum = bias ? bias.data[column] : 0;
    for (let k = 0; k < width; k++) sum += data[row * width + k] * weight.data[column * width + k];
    return sum;
  });
  return {shape: [...shape.slice(0, -1), out], data: result};
};

/** @type {Record<string, Function>} */
const FUNCTIONS = {
  "torch.cat": cat,
  "torch._assert": (condition, message) => {
    if (isTensor(condition) && condition.data.length > 1)
      throw new PythonError("RuntimeError", "Boolean value of Tensor with more than one value is ambiguous");
    const number = isTensor(condition) ? condition.data[0] : condition && typeof condition === "object" && "float" in condition ? condition.float : condition;
    if (Array.isArray(number) ? number.length : number) return null;
    if (typeof message !== "string") throw new OutsideTheLab("its message is not a text");
    throw new PythonError("AssertionError", message);
  },
  "torch.sum": value => ({shape: [], data: [needTensor(value).data.reduce((a, b) => a + b, 0)]}),
  "operator.getitem": (held, at) => {
    if (!Number.isInteger(at)) throw new OutsideTheLab("a lab takes whole numbers in brackets only");
    if (isTensor(held)) return row(held, at);
    const items = Array.isArray(held) ? held : held && held.tuple;
    if (!items) throw new OutsideTheLab("this value has no items");
    if (at < -items.length || at >= items.length)
      throw new PythonError("IndexError", `${Array.isArray(held) ? "list" : "tuple"} index out of range`);
    return items.at(at);
  },
  "operator.neg": unary(maths.neg),
  "torch.nn.functional.relu": (value, inplace) => {
    if (inplace) throw new OutsideTheLab("a lab does not write into a tensor in place");
    return unary(maths.relu)(value);
  },
  "torch.nn.functional.gelu": unary(maths.gelu),
};
for (const [name, f] of Object.entries(maths)) if (name !== "gelu") FUNCTIONS[`torch.${name}`] = unary(f);
for (const [name, f] of Object.entries(arithmetic)) FUNCTIONS[`torch.${name}`] = FUNCTIONS[`operator.${name}`] = f;

const LAYERS = {
  ReLU: () => unary(maths.relu), GELU: () => unary(maths.gelu), Tanh: () => unary(Math.tanh), Sigmoid: () => unary(maths.sigmoid),
  Identity: () => value => value, Dropout: () => value => value, Linear: linear,
};

/** The arguments in the order of the parameters. @param {[string, string][]} parameters name and kind */
const bind = (parameters, args, kwargs) => {
  const bound = [...args], names = parameters.map(([name]) => name);
  if (args.length > names.length) throw new OutsideTheLab(`it takes at most ${names.length}`);
  for (const [key, value] of Object.entries(kwargs)) {
    const at = names.indexOf(key);
    if (at < 0 || at in bound) throw new OutsideTheLab(`it does not take the keyword ${key} here`);
    bound[at] = value;
  }
  return bound;
};

/** @param {string} name @param {{parameters: [string, string][], keywords: boolean}} about @param {any[]} args @param {Record<string, any>} kwargs */
export const callFunction = (name, {parameters, keywords}, args, kwargs) => {
  if (!keywords && Object.keys(kwargs).length) throw new OutsideTheLab("it does not take keywords");
  return FUNCTIONS[name](...bind(parameters, args, kwargs));
};

/** @param {{layer: string}} layer @param {any[]} args @param {Record<string, any>} kwargs */
export const callLayer = (layer, args, kwargs) => LAYERS[layer.layer](layer)(...bind([["input", "tensor"]], args, kwargs));
