// Choose from a long list: claims of the fact check, messages of the symptom index, exercises. Without this script the page
// is the whole list.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const make = (name, attributes = {}, ...inside) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.append(...inside);
    return element;
  };
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
        fold.querySelector("summary").textContent = counts.get(fold) + (asked ? `, ${hits} of ${own.length} entries fit` : "");
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
