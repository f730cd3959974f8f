// Results while one types in the search of any page. What searches is loaded when the search is opened, not before.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const root = document.documentElement.dataset.content_root;
  const dialog = document.querySelector("#pst-search-dialog"), field = dialog?.querySelector("input[name=q]");
  if (!field) return;
  const script = (name) => new Promise((done, failed) => {
    document.head.append(Object.assign(document.createElement("script"), {
      src: `${root}_static/search/${name}.js`, onload: done, onerror: failed,
    }));
  });
  const start = async () => {
    // The page of the search has them already.
    if (!window.fxSearch) for (const name of ["find", "results", "index"]) await script(name);
    const status = Object.assign(document.createElement("p"), { className: "fx-told", role: "status" });
    const list = Object.assign(document.createElement("ol"), { className: "fx-results" });
    const box = Object.assign(document.createElement("div"), { className: "fx-found" });
    box.append(status, list);
    dialog.append(box);
    window.fxSearch(field, list, status);
  };
  field.addEventListener("focus", () => { start().catch(() => { /* then Enter leads to the page of the search */ }); }, { once: true });
});
