// Draws a placed graph with the shapes and classes of the book's drawings (fxbook/drawing/paint.py).
import {LID, inset, number} from "./layout.js";

const SVG = "http://www.w3.org/2000/svg";
const add = (parent, tag, attributes, text) => {
  const element = document.createElementNS(SVG, tag);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
};

const shape = (group, op, {x, y, width: w, height: h}) => {
  const right = x + w, bottom = y + h, middle = y + h / 2, inner = {class: "fx-inner"}, outline = {class: "fx-shape"};
  if (op === "get_attr") {
    const lid = `a${w / 2} ${LID} 0 0 1 ${w} 0`;
    add(group, "path", {...outline, d: `M${x} ${y + LID}${lid}v${h - 2 * LID}a${w / 2} ${LID} 0 0 1 -${w} 0z`});
    add(group, "path", {...inner, d: `M${x} ${y + LID}a${w / 2} ${LID} 0 0 0 ${w} 0`});
  } else if (op === "call_method") {
    const c = Math.min(11, w / 4);
    add(group, "path", {...outline,
      d: `M${x} ${middle}L${x + c} ${y}H${right - c}L${right} ${middle}L${right - c} ${bottom}H${x + c}z`});
  } else {
    const round = Math.min(h / 2, 22), radius = {placeholder: round, output: round, call_function: 8}[op] ?? 1;
    add(group, "rect", {...outline, x, y, width: w, height: h, rx: radius});
    if (op === "call_module") add(group, "path", {...inner, d: `M${x + 5} ${y}V${bottom}M${right - 5} ${y}V${bottom}`});
    if (op === "output") add(group, "rect", {...inner, x: x + 3, y: y + 3, width: w - 6, height: h - 6, rx: radius - 3});
  }
};

/**
 * @param {ReturnType<import("./layout.js").place>} layout @param {import("./layout.js").Row[]} rows
 * @param {Map<string, string[]>} marks the marks of each node, by name
 * @returns {SVGElement}
 */
export const picture = (layout, rows, marks) => {
  const svg = /** @type {any} */ (document.createElementNS(SVG, "svg"));
  svg.setAttribute("class", "fx-svg");
  svg.setAttribute("viewBox", `0 0 ${layout.width} ${layout.height}`);
  svg.setAttribute("style", `max-width:${layout.width}px;min-width:${Math.round(layout.width * 0.96)}px`);
  svg.setAttribute("aria-hidden", "true");
  const marked = (name, mark) => (marks.get(name) || []).includes(mark);
  if (rows.length) {
    const rail = add(svg, "g", {class: "fx-rail"});
    add(rail, "path", {class: "fx-line", d: `M${layout.rail} ${layout.boxes[0].rail}V${layout.boxes.at(-1).rail}`});
    layout.boxes.forEach((box, at) => {
      const x = layout.rail, y = box.rail;
      add(rail, "path", {class: "fx-hair", d: `M${x} ${y}H${number(box.x + inset(rows[at].op, box, y))}`});
      add(rail, "circle", {cx: x, cy: y, r: 2});
      add(rail, "text", {x: x - 6, y: y + 4.5}, String(at));
      if (marked(rows[at].name, "moved"))
        add(rail, "path", {class: "fx-shift", d: `M${x} ${y - 11}v22M${x - 4} ${y - 6}l4 -5l4 5M${x - 4} ${y + 6}l4 5l4 -5`});
    });
  }
  for (const wire of layout.wires) {
    const rewired = marked(rows[wire.reader].name, "rewired");
    const group = add(svg, "g", {class: `fx-edge${wire.broken ? " fx-broken" : ""}${rewired ? " fx-rewired" : ""}`});
    add(group, "path", {d: wire.path});
    add(group, "path", {class: "fx-head", d: wire.head});
    if (wire.at) add(group, "text", {x: number(wire.at[0]), y: number(wire.at[1])}, wire.label);
  }
  layout.boxes.forEach((box, at) => {
    const {name, op} = rows[at];
    const group = add(svg, "g", {class: ["fx-node", `fx-op-${op}`, ...(marks.get(name) || []).map(mark => `fx-${mark}`)].join(" "),
      "data-fx-pick": name});
    shape(group, op, box);
    for (const [kind, text, y] of box.lines) add(group, "text", {class: `fx-${kind}`, x: box.x + box.width / 2, y}, text);
  });
  return svg;
};
