// Left and right lead to the previous and the next page, `/` to the search and `?` to a list of all keys, unless the key
// means something where the focus is.
"use strict";
(() => {
  const TYPED_IN = "input, textarea, select, audio, video, [contenteditable]:not([contenteditable=false])";
  const USES_ARROWS = "[role=slider], [role=tab], [role=radio], [role=listbox], [role=menu], [role=tree], [role=grid]";

  // A box that scrolls sideways needs the arrows to do so.
  const scrolls = (element) => {
    for (let box = element; box && box !== document.body && box !== document.documentElement; box = box.parentElement) {
      if (box.scrollWidth > box.clientWidth && /auto|scroll/.test(getComputedStyle(box).overflowX)) return true;
    }
    return false;
  };

  const typed = (event) =>
    event.defaultPrevented || event.isComposing || event.repeat || event.altKey || event.ctrlKey || event.metaKey ||
    event.target.closest?.(TYPED_IN) || document.querySelector("dialog[open]");
  const taken = (event) => typed(event) || event.shiftKey || event.target.closest?.(USES_ARROWS) || scrolls(event.target);

  const KEYS = {
    "On every page": [["← →", "go to the previous or the next page"], ["/", "search the book"], ["?", "show these keys"], ["Esc", "close what is open"]],
    "With a stepper in view": [["n p", "next or previous frame"]],
    "Inside a stepper (click it, or reach it with Tab)": [
      ["← →", "previous or next frame; the page stays"], ["Home End", "first or last frame"], ["↑ ↓", "previous or next node"]],
  };
  const make = (name, attributes, ...inside) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.append(...inside);
    return element;
  };
  const list = () => {
    const rows = ([keys, does]) => [make("dt", {}, ...keys.split(" ").flatMap((key) => [make("kbd", {}, key), " "])), make("dd", {}, does)];
    const parts = Object.entries(KEYS).flatMap(([where, keys]) => [make("h3", {}, where), make("dl", {}, ...keys.flatMap(rows))]);
    const close = make("button", { type: "button", className: "btn btn-sm" }, "Close");
    const dialog = make("dialog", { className: "fx-key-list" }, make("h2", { id: "fx-key-list" }, "Keys"), ...parts, close);
    dialog.setAttribute("aria-labelledby", "fx-key-list");
    dialog.addEventListener("click", (event) => { if ([dialog, close].includes(event.target)) dialog.close(); });
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  };
  const search = () => {
    const field = document.querySelector("article input[type=search]");
    if (field) field.focus();
    else document.querySelector(".search-button__button")?.click();
  };

  const LEADS = { ArrowLeft: ["prev", "←"], ArrowRight: ["next", "→"] };
  // Where `/` and `?` are on the keyboard, and whether they need Shift, differs. Sphinx would lead `/` to a hidden field.
  addEventListener("keydown", (event) => {
    const opens = { "?": list, "/": search }[event.key];
    if (!opens || typed(event)) return;
    event.preventDefault();
    event.stopPropagation();
    opens();
  }, true);
  // At the window, so that whatever else wants the key has had it by then.
  addEventListener("keydown", (event) => {
    const [to] = LEADS[event.key] ?? [];
    const link = to && document.querySelector(`link[rel="${to}"]`);
    if (!link || taken(event)) return;
    event.preventDefault();
    location.assign(link.href);
  });
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelector(".fx-show-keys")?.addEventListener("click", list);
    for (const [key, [to, sign]] of Object.entries(LEADS)) {
      const link = document.querySelector(`.prev-next-area .${to === "prev" ? "left" : "right"}-${to}`);
      link?.setAttribute("aria-keyshortcuts", key);
      if (link) link.title += ` (${sign})`;
    }
  });
})();

// The theme lets the keyboard into boxes that scroll, when the window gets another size: a fold that opens shows more of them.
(() => {
  "use strict";
  let waits = false;
  document.addEventListener("toggle", () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      dispatchEvent(new Event("resize"));
    });
  }, true);
})();
