// The long lists of the reference. Choose from them: claims of the fact check, messages of the symptom index, exercises.
// Without this script the page is the whole list.
"use strict";
const fxMake = (name, attributes = {}, ...inside) => {
  const element = Object.assign(document.createElement(name), attributes);
  element.append(...inside);
  return element;
};
document.addEventListener("DOMContentLoaded", () => {
  const make = fxMake;
  const words = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
  const unique = (values) => [...new Set(values)].sort();

  // Each field: how one chooses in it, and whether an item fits what is chosen.
  const field = (element, label, fits) => ({ element, fits, label: make("label", {}, `${label} `, element) });
  const text = (label, textOf) => {
    const input = make("input", { type: "search", autocomplete: "off", spellcheck: false });
    return field(input, label, (item) => words(input.value).every((word) => textOf(item).includes(word)));
  };
  const select = (label, valuesOf, items) => {
    const box = make("select", {}, ...["all", ...unique(items.flatMap(valuesOf))].map((value) => new Option(value, value)));
    return field(box, label, (item) => box.value === "all" || valuesOf(item).includes(box.value));
  };
  const check = (label, holds) => {
    const input = make("input", { type: "checkbox" });
    return field(input, label, (item) => !input.checked || holds(item));
  };

  const choose = (items, fields, unit, place, told = () => {}) => {
    const status = make("output"), form = make("form", { className: "fx-choose" }, ...fields.map((one) => one.label), status);
    const show = () => {
      const chosen = items.filter((item) => fields.every((one) => one.fits(item)));
      for (const item of items) item.hidden = true;
      for (const item of chosen) item.hidden = false;
      status.textContent = `${chosen.length} of ${items.length} ${unit}`;
      told(chosen, status);
    };
    form.addEventListener("input", show);
    form.addEventListener("submit", (event) => event.preventDefault());
    place.before(form);
    show();
    return show;
  };

  const claims = [...document.querySelectorAll(".fx-claim")];
  if (claims.length) {
    choose(claims, [
      select("Verdict", (claim) => [claim.dataset.verdict], claims),
      select("Chapter", (claim) => claim.dataset.chapters.split(" "), claims),
    ], "claims", claims[0].closest("section, article").querySelector("ul.fx-claims, h3"));
  }

  const exercises = [...document.querySelectorAll(".fx-exercises tbody tr")];
  if (exercises.length) {
    const cell = (at) => (row) => [row.cells[at].textContent];
    const unsolved = window.fxMemory ? [check("Unsolved only", (row) => !row.dataset.solved)] : [];
    const show = choose(exercises, [
      text("Filter", (row) => row.textContent.toLowerCase()),
      select("Chapter", cell(4), exercises),
      select("Difficulty", cell(2), exercises),
      ...unsolved,
    ], "exercises", document.querySelector(".fx-exercises"));
    addEventListener("fx-memory", show);
  }

  const folds = [...document.querySelectorAll("details.fx-symptoms")];
  if (folds.length) {
    const items = folds.flatMap((fold) => [...fold.querySelectorAll("li")]);
    const texts = new Map(items.map((item) => [item, item.textContent.toLowerCase()]));
    const counts = new Map(folds.map((fold) => [fold, fold.querySelector("summary").textContent]));
    const query = text("Filter", (item) => texts.get(item));
    // A fold with what is sought opens, and closes again; one that the reader has opened stays as it is.
    const opened = new Set();
    choose(items, [query], "entries", folds[0].closest("section"), (chosen, status) => {
      const asked = Boolean(query.element.value.trim()), left = new Set(chosen);
      for (const fold of folds) {
        const own = [...fold.querySelectorAll("li")], hits = own.filter((item) => left.has(item)).length;
        fold.closest("section").hidden = asked && !hits;
        fold.querySelector("summary").textContent = counts.get(fold) + (asked ? `, ${hits} of ${own.length} entries match` : "");
        if (asked && hits && !fold.open) opened.add(fold);
        if (opened.has(fold)) fold.open = asked && hits > 0;
        if (!asked) opened.delete(fold);
      }
      if (asked && !chosen.length) {
        const root = document.documentElement.dataset.content_root;
        const link = make("a", { href: `${root}search.html?q=${encodeURIComponent(query.element.value)}` }, "search for it");
        status.append(". Your message has your own names: ", link, ".");
      }
    });
    const reveal = () => {
      const fold = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.querySelector(":scope > details.fx-symptoms");
      if (fold) fold.open = true;
    };
    addEventListener("hashchange", reveal);
    reveal();
  }
});

// What was solved, and when: a column of the page with all exercises, and the page that lists the record, to print, to save
// and to load. memory.js keeps it; without storage both pages are as they were printed.
document.addEventListener("DOMContentLoaded", () => {
  if (!window.fxMemory) return;
  const { load, change, whole, pageOf, total } = window.fxMemory;
  const FILE = "torch-fx-node-by-node.json";
  const make = fxMake;
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
