// Places a graph as the drawings of the book do: a row for each node in list order, a lane for each value that skips rows.
// The measures are those of fxbook/drawing (boxes.py, lanes.py, layout.py); a test compares both.

/**
 * @typedef {{op: string, name: string, words?: string[], inputs: number[], labels: string[]}} Row
 * @typedef {{x: number, y: number, width: number, height: number, rail: number, lines: [string, string, number][]}} Box
 * @typedef {{source: number, reader: number, path: string, head: string, label: string, at: number[] | null, broken: boolean}} Wire
 * @typedef {{source: number, readers: number[][], side: "left" | "right", place: number, first: number, last: number, falls: boolean}} Lane
 */

const MARGIN = 3, GAP = 16, PITCH = 9, LEAST = 96, NAME = 14, LABEL = 12.5, ADVANCE = 0.605, NAME_LINE = 18, LINE = 16, PAD_X = 12, PAD_Y = 3;
const CHAMFER = 11;
export const LID = 5;

const even = value => 2 * Math.ceil(value / 2);
export const number = value => String(Math.round(value * 10) / 10);
const cut = (text, width) => text.length <= width ? text : text.slice(0, width - 1).trimEnd() + "…";

/** How far inside the side of its box the outline of a node is at height `y`. @param {string} op @param {Box} box @param {number} y */
export const inset = (op, box, y) => {
  const off = Math.abs(y - box.y - box.height / 2);
  if (op === "placeholder" || op === "output") {
    const radius = Math.min(box.height / 2, 22), over = off - (box.height / 2 - radius);
    return over > 0 ? radius - Math.sqrt(radius ** 2 - over ** 2) : 0;
  }
  return op === "call_method" ? CHAMFER * off / (box.height / 2) : 0;
};

/** @param {Row[]} rows @returns {{straight: number[][], lanes: Lane[]}} */
const findLanes = rows => {
  /** @type {number[][]} */
  const straight = [];
  const trunks = new Map(), odd = new Map();
  rows.forEach((row, reader) => row.inputs.forEach((source, k) => {
    if (Math.abs(reader - source) === 1) {
      straight.push([source, reader, k]);
      return;
    }
    const [lanes, key] = source < reader ? [trunks, source] : [odd, `${source} ${reader}`];
    if (!lanes.has(key)) lanes.set(key, {source, readers: [], side: "right", place: 0});
    lanes.get(key).readers.push([reader, k]);
  }));
  const lanes = [...trunks.values(), ...odd.values()];
  for (const lane of lanes) {
    const ends = [lane.source, ...lane.readers.map(([reader]) => reader)];
    lane.first = Math.min(...ends);
    lane.last = Math.max(...ends);
    lane.falls = lane.readers.every(([reader]) => reader > lane.source);
  }
  /** @type {Record<string, Lane[]>} the last lane at each place */
  const last = {right: [], left: []};
  const free = (lane, side) => {
    const at = last[side].findIndex(({last: end, falls}) => end < lane.first || (end === lane.first && falls && lane.falls));
    return at < 0 ? last[side].length : at;
  };
  for (const lane of [...lanes].sort((a, b) => a.last - b.last || b.first - a.first)) {
    lane.side = free(lane, "left") < free(lane, "right") ? "left" : "right";
    const at = free(lane, lane.side);
    lane.place = at + 1;
    last[lane.side][at] = lane;
  }
  return {straight, lanes};
};

/** @param {Row[]} rows @param {number} [highest] the largest number that the rail ever shows */
export const place = (rows, highest = rows.length - 1) => {
  const {straight, lanes} = findLanes(rows);
  const on = (index, side) => lanes.filter(lane => lane.side === side).flatMap(lane =>
    lane.readers.filter(([reader]) => reader === index).map(([, k]) => ({k, lane}))).sort((a, b) => a.k - b.k);
  const exits = (index, side) =>
    [...new Set(lanes.filter(lane => lane.source === index && lane.side === side).map(lane => lane.falls))].sort();
  const label = (reader, k, broken) => broken ? "!" : rows[reader].labels.length ? cut(rows[reader].labels[k], 5) : "";
  const looks = rows.map(row => [
    ["name", cut(row.name, Math.floor(24 * 13 / NAME)), NAME], ...(row.words || []).map(word => ["word", word, LABEL])]);
  const texts = looks.flat().map(([, text, size]) => text.length * size * ADVANCE);
  const width = even(Math.max(Math.max(0, ...texts) + 2 * PAD_X, LEAST));
  const beside = side => {
    const own = lanes.filter(lane => lane.side === side);
    const longest = Math.max(0, ...own.flatMap(lane => lane.readers.map(([reader, k]) => label(reader, k, !lane.falls).length)));
    const gap = even(14 + longest * LABEL * ADVANCE), count = Math.max(0, ...own.map(lane => lane.place));
    return {gap, room: count ? gap + (count - 1) * PITCH : 0};
  };
  const sides = {left: beside("left"), right: beside("right")};
  const rail = even(MARGIN + String(Math.max(highest, 0)).length * LABEL * ADVANCE + 6);
  const left = rail + Math.max(sides.left.room + PITCH, 16);

  /** @type {Box[]} */
  const boxes = [];
  let y = MARGIN;
  rows.forEach((row, index) => {
    const slots = Math.max(...["left", "right"].map(side => on(index, side).length + exits(index, side).length));
    const text = looks[index].reduce((sum, [kind]) => sum + (kind === "name" ? NAME_LINE : LINE), 0);
    const lid = row.op === "get_attr" ? LID : 0;
    const height = Math.max(text + 2 * PAD_Y + 2 * lid, (slots + 1) * (slots <= 8 ? 15 : 7));
    let baseline = y + lid + (height - lid - text) / 2;
    const lines = looks[index].map(([kind, words]) => {
      const advance = kind === "name" ? NAME_LINE : LINE;
      baseline += advance;
      return [kind, words, baseline - 5];
    });
    boxes.push({x: left, y, width, height, rail: y + 9, lines: /** @type {any} */ (lines)});
    y += height + GAP;
  });

  /** @type {(Wire & {k: number})[]} */
  const wires = [];
  for (const [source, reader, k] of straight) {
    const rises = reader < source, same = rows[reader].inputs.flatMap((input, at) => input === source ? [at] : []);
    const to = boxes[reader], from = boxes[source], sign = rises ? -1 : 1;
    const x = to.x + to.width / 2 + (same.indexOf(k) - (same.length - 1) / 2) * 30 + (rises ? to.width / 4 : 0);
    const start = rises ? from.y : from.y + from.height, end = rises ? to.y + to.height : to.y, text = label(reader, k, rises);
    wires.push({
      source, reader, k, path: `M${number(x)} ${number(start)}V${number(end - sign * 6)}`,
      head: `M${number(x)} ${number(end)}l-4 ${-8 * sign}h8z`, label: text, broken: rises,
      at: text ? [x + 5 + text.length * LABEL * ADVANCE / 2, (start + end) / 2 + 3] : null,
    });
  }
  for (const lane of lanes) {
    const sign = lane.side === "left" ? -1 : 1, edge = lane.side === "left" ? left : left + width;
    const x = edge + sign * (sides[lane.side].gap + (lane.place - 1) * PITCH);
    const heightAt = (index, slot) => boxes[index].y + Math.round(
      boxes[index].height * (slot + 1) / (on(index, lane.side).length + exits(index, lane.side).length + 1) * 10) / 10;
    const outline = (index, at) => edge - sign * inset(rows[index].op, boxes[index], at);
    const out = heightAt(lane.source, on(lane.source, lane.side).length + exits(lane.source, lane.side).indexOf(lane.falls));
    /** @type {number | undefined} */
    let drawn;
    for (const [reader, k] of lane.readers) {
      const into = heightAt(reader, on(reader, lane.side).findIndex(end => end.k === k)), down = into > out ? 1 : -1;
      const tip = outline(reader, into), turn = into - 5 * down, text = label(reader, k, !lane.falls);
      const enter = `V${number(turn)}q0 ${5 * down} ${-5 * sign} ${5 * down}H${number(tip + sign * 6)}`;
      const start = drawn === undefined
        ? `M${number(outline(lane.source, out))} ${number(out)}H${number(x - sign * 5)}q${5 * sign} 0 ${5 * sign} ${5 * down}`
        : `M${number(x)} ${number(drawn)}`;
      drawn = turn;
      wires.push({
        source: lane.source, reader, k, path: start + enter, head: `M${number(tip)} ${number(into)}l${8 * sign} -4v8z`, label: text,
        at: text ? [tip + sign * (9 + text.length * LABEL * ADVANCE / 2), into - 3] : null, broken: !lane.falls,
      });
    }
  }
  wires.sort((a, b) => a.reader - b.reader || a.k - b.k);
  const total = left + width + Math.max(sides.right.room + 6, 2) + MARGIN;
  return {width: even(total), height: Math.max(y - GAP, 30) + MARGIN, rail, boxes, wires};
};
