// Values as the page shows them: tensors as nested brackets, with four digits.
import {isTensor} from "./numbers.js";
import {argumentText} from "./text.js";

const short = value => Math.abs(value) < 1e-12 ? "0" : String(Number(value.toPrecision(4)));

/** @param {number[]} data @param {number[]} shape @returns {string} */
const nested = (data, [size, ...rest] = []) => size === undefined ? short(data[0])
  : `[${Array.from({length: size}, (_, at) => nested(data.slice(at * data.length / size, (at + 1) * data.length / size), rest)).join(", ")}]`;

/** @param {any} value @returns {string} */
export const shown = value => {
  if (isTensor(value)) return nested(value.data, value.shape);
  if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`;
  if (value && value.tuple) return `(${value.tuple.map(shown).join(", ")}${value.tuple.length === 1 ? "," : ""})`;
  return argumentText(value ?? null);
};
