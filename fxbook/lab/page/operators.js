// Python's operators on Python's own values: numbers, strings, lists, tuples and None.
import {OutsideTheLab, PythonError} from "./node.js";

/** A list or a string with more items would not fit on the page. */
const MOST_ITEMS = 10_000;

/** The name of the class of a value that is not a tensor. @param {any} value */
export const classOf = value => value === null ? "NoneType" : Array.isArray(value) ? "list"
  : typeof value === "object" ? ("float" in value ? "float" : "tuple") : {number: "int", boolean: "bool", string: "str"}[typeof value];

/** @param {any} value @returns {number | undefined} the value of an int, a float or a bool */
export const numberOf = value => typeof value === "number" || typeof value === "boolean" ? Number(value)
  : value && typeof value === "object" && "float" in value ? value.float : undefined;

/** @param {any} value @returns {any[] | undefined} the items of a list, a tuple or a string */
export const itemsOf = value => typeof value === "string" ? [...value] : Array.isArray(value) ? value : value && value.tuple || undefined;

/** `bool(value)`. @param {any} value */
export const truth = value => Boolean(itemsOf(value)?.length ?? numberOf(value));

const typeError = message => new PythonError("TypeError", message);

/** Items as a value of the same class. */
const like = (value, items) => {
  if (items.length > MOST_ITEMS) throw new OutsideTheLab(`a ${classOf(value)} of more than ${MOST_ITEMS} items is too long for the page`);
  return typeof value === "string" ? items.join("") : Array.isArray(value) ? items : {tuple: items};
};

/** A whole number; adding 0 makes -0 a 0. */
const int = value => {
  if (!Number.isSafeInteger(value)) throw new OutsideTheLab("the page has no exact whole numbers beyond 2**53");
  return value + 0;
};

const arithmetic = (sign, f) => (a, b) => {
  const [p, q] = [numberOf(a), numberOf(b)];
  if (p === undefined || q === undefined) throw typeError(`unsupported operand type(s) for ${sign}: '${classOf(a)}' and '${classOf(b)}'`);
  const whole = classOf(a) !== "float" && classOf(b) !== "float";
  if (sign === "/" && !q) throw new PythonError("ZeroDivisionError", whole ? "division by zero" : "float division by zero");
  return whole && sign !== "/" ? int(f(p, q)) : {float: f(p, q)};
};
const plus = arithmetic("+", (a, b) => a + b), times = arithmetic("*", (a, b) => a * b);

const repeat = (value, count) => {
  const items = itemsOf(value);
  if (typeof count !== "number" && typeof count !== "boolean") throw typeError(`can't multiply sequence by non-int of type '${classOf(count)}'`);
  const length = items.length * Math.max(Number(count), 0);
  return like(value, Array.from({length: Math.min(length, MOST_ITEMS + 1)}, (_, at) => items[at % items.length]));
};

/** @type {Record<string, Function>} */
export const OPERATORS = {
  add: (a, b) => {
    const items = itemsOf(a), kind = classOf(a);
    if (!items) return plus(a, b);
    if (classOf(b) !== kind) throw typeError(`can only concatenate ${kind} (not "${classOf(b)}") to ${kind}`);
    return like(a, [...items, ...itemsOf(b)]);
  },
  sub: arithmetic("-", (a, b) => a - b),
  mul: (a, b) => itemsOf(a) ? repeat(a, b) : itemsOf(b) ? repeat(b, a) : times(a, b),
  truediv: arithmetic("/", (a, b) => a / b),
  neg: value => {
    const number = numberOf(value);
    if (number === undefined) throw typeError(`bad operand type for unary -: '${classOf(value)}'`);
    return classOf(value) === "float" ? {float: -number} : int(-number);
  },
  getitem: (held, at) => {
    const items = itemsOf(held), kind = classOf(held);
    if (!items) throw typeError(`'${kind}' object is not subscriptable`);
    if (typeof at !== "number" && typeof at !== "boolean")
      throw typeError(kind === "str" ? `string indices must be integers, not '${classOf(at)}'` : `${kind} indices must be integers or slices, not ${classOf(at)}`);
    const index = Number(at);
    if (index < -items.length || index >= items.length)
      throw new PythonError("IndexError", `${kind === "str" ? "string" : kind} index out of range`);
    return items.at(index);
  },
};
