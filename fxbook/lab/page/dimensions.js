// What depends on the dimensions of a tensor: its items in brackets, and its sums.
import {OutsideTheLab, PythonError} from "./node.js";
import {itemsOf} from "./operators.js";

/** @typedef {import("./data.js").Tensor} Tensor */

const product = shape => shape.reduce((a, b) => a * b, 1);

/** The shape with these sizes in place of one of its own. */
const changed = (shape, at, ...sizes) => [...shape.slice(0, at), ...sizes, ...shape.slice(at + 1)];

/** The places `picked` of one dimension. @param {Tensor} tensor @param {number} along @param {number[]} picked @returns {Tensor} */
const pick = ({shape, data}, along, picked) => {
  const size = shape[along], inner = product(shape.slice(along + 1)), outer = product(shape.slice(0, along));
  const rows = Array.from({length: outer}, (_, row) => picked.map(at => {
    const start = (row * size + (at < 0 ? at + size : at)) * inner;
    return data.slice(start, start + inner);
  }));
  return {shape: changed(shape, along, picked.length), data: rows.flat(2)};
};

const within = (at, size) => Number.isInteger(at) && at >= -size && at < size;

/** `tensor[at]` for a whole number. @param {Tensor} tensor @param {number} at @returns {Tensor} */
const row = (tensor, at) => {
  const [size = 0, ...rest] = tensor.shape;
  if (!tensor.shape.length && !at) {
    throw new PythonError("IndexError",
      "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
  }
  if (!within(at, size)) throw new PythonError("IndexError", `index ${at} is out of bounds for dimension 0 with size ${size}`);
  return {shape: rest, data: pick(tensor, 0, [at]).data};
};

/** `tensor[at]`: one dimension after the other, as torch does if at most one of the items is a list or a bool. @param {Tensor} tensor @param {any} at */
export const index = (tensor, at) => {
  if (typeof at === "number") return row(tensor, at);
  // As in torch, a list that holds more than numbers is read as a tuple.
  const items = at && at.tuple || (Array.isArray(at) && at.some(item => item === null || typeof item === "object" && !("float" in item)) ? at : [at]);
  if (items.filter(item => typeof item === "boolean" || Array.isArray(item)).length > 1) throw new OutsideTheLab("only one item in brackets can be a list, True or False");
  let found = tensor, along = 0;
  for (const item of items) {
    if (item === null || typeof item === "boolean") {
      const {shape, data} = found, size = item === false ? 0 : 1;
      found = {shape: [...shape.slice(0, along), size, ...shape.slice(along)], data: size ? data : []};
      along++;
      continue;
    }
    const places = Array.isArray(item) ? item : [item];
    if (!places.every(place => within(place, found.shape[along] ?? 0)) || along >= found.shape.length)
      throw new OutsideTheLab("in brackets, a lab takes None, True, False, and for each dimension at most one whole number or list of them, within its size");
    found = pick(found, along, places);
    if (item === places) along++;
    else found = {shape: changed(found.shape, along), data: found.data};
  }
  return found;
};

/** `torch.sum`, over all dimensions or over those given. @param {Tensor} tensor @param {any} dim @returns {Tensor} */
export const sum = (tensor, dim = null) => {
  const add = (a, b) => a + b, rank = Math.max(tensor.shape.length, 1);
  const dims = (dim === null ? [] : typeof dim !== "string" && itemsOf(dim) || [dim]).map(one => {
    if (!within(one, rank)) throw new OutsideTheLab("it has no such dimension");
    return one < 0 ? one + rank : one;
  });
  if (new Set(dims).size < dims.length) throw new OutsideTheLab("a dimension is given twice");
  if (!dims.length || !tensor.shape.length) return {shape: [], data: [tensor.data.reduce(add, 0)]};
  return dims.sort((a, b) => b - a).reduce((found, along) => {
    const shape = changed(found.shape, along), parts = Array.from({length: found.shape[along]}, (_, at) => pick(found, along, [at]).data);
    return {shape, data: Array.from({length: product(shape)}, (_, at) => parts.map(part => part[at]).reduce(add, 0))};
  }, tensor);
};
