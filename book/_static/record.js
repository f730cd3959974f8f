// What was solved, and when: a column of the page with all exercises, and the page that lists the record, to print, to save
// and to load. memory.js keeps it; without storage both pages are as they were printed.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  if (!window.fxMemory) return;
  const { load, change, whole, pageOf, total } = window.fxMemory;
  const FILE = "torch-fx-node-by-node.json";
  const make = (name, attributes = {}, ...inside) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.append(...inside);
    return element;
  };
  // The day, of an entry from `make watch` without its time; an old record has none.
  const day = (entry) => (typeof entry === "string" ? entry.slice(0, 10) : "");
  const idOf = (row) => row.querySelector("code")?.textContent;
  const mark = (cell, done, word) => cell.replaceChildren(...(done ? [
    make("span", { ariaHidden: "true" }, "✓ "), make("span", { className: "visually-hidden" }, `${word} `), day(done)] : []));

  const table = document.querySelector(".fx-exercises table");
  if (table) {
    table.tHead.rows[0].append(make("th", { className: "head", scope: "col" }, "Solved"));
    for (const row of table.tBodies[0].rows) row.append(make("td"));
    const show = () => {
      const { solved } = load();
      for (const row of table.tBodies[0].rows) {
        const done = solved[idOf(row)];
        if (done) row.dataset.solved = "yes";
        else delete row.dataset.solved;
        mark(row.cells[row.cells.length - 1], done, "solved");
      }
    };
    addEventListener("fx-memory", show);
    show();
    dispatchEvent(new CustomEvent("fx-memory"));
  }

  const record = document.querySelector(".fx-record");
  if (!record) return;
  const status = make("output"), sum = make("p", { className: "fx-sum" });
  const button = (label, act) => {
    const one = make("button", { type: "button", className: "btn btn-sm" }, label);
    one.addEventListener("click", act);
    return one;
  };
  const all = make("input", { type: "checkbox" });
  const chosen = make("input", { type: "file", accept: ".json,application/json", hidden: true });
  const save = () => {
    const { read, solved } = load();
    const url = URL.createObjectURL(new Blob([JSON.stringify({ read, solved }, null, 1)], { type: "application/json" }));
    make("a", { href: url, download: FILE }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  };
  // What stands in both keeps the earlier day.
  const earlier = (one, other) => (day(one) && day(other) ? (day(one) < day(other) ? one : other) : day(one) ? one : other || one);
  const joined = (one, other) => Object.fromEntries([...new Set([...Object.keys(one), ...Object.keys(other)])]
    .map((key) => [key, earlier(one[key], other[key])]));
  chosen.addEventListener("change", async () => {
    const [file] = chosen.files;
    chosen.value = "";
    try {
      const found = JSON.parse(await file.text());
      if (!found?.solved || typeof found.solved !== "object") throw new SyntaxError();
      const { read, solved } = whole(found);
      change((kept) => Object.assign(kept, { read: joined(kept.read, read), solved: joined(kept.solved, solved) }));
      status.textContent = `Loaded ${file.name}: ${Object.keys(solved).length} solved exercises.`;
    } catch {
      status.textContent = `${file.name} is not a record of this book: choose ${FILE} or .fxbook-progress.json.`;
    }
  });
  const show = () => {
    const { read, solved } = load();
    let chapter, some = false;
    for (const row of record.querySelectorAll("tbody tr")) {
      const id = idOf(row), done = id ? solved[id] : read[pageOf(row.querySelector("a").href)];
      mark(row.cells[2], done, id ? "solved" : "read");
      row.hidden = !all.checked && !done;
      // A chapter stands above what was solved of it.
      if (!id) chapter = row;
      else if (done) chapter.hidden = false;
      some ||= Boolean(done);
    }
    record.hidden = !some && !all.checked;
    sum.textContent = some ? `${total()}.` : "Nothing yet: tick an exercise on its page, or read a chapter to its end.";
  };
  record.before(sum, make("div", { className: "fx-choose" },
    make("label", {}, all, " Show what is left"), button("Print", () => print()), button("Save to a file", save),
    button("Load a file", () => chosen.click()), chosen, status));
  all.addEventListener("change", show);
  addEventListener("fx-memory", show);
  show();
});
