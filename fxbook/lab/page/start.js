// Starts each lab of the page when it is opened. The script may run many times, and labs may come later than it, as in a notebook.
import {openFold} from "./book.js";
import {View} from "./view.js";

const startAll = () => {
  for (const root of document.querySelectorAll(".fx-lab:not([data-fx-on])")) {
    root.setAttribute("data-fx-on", "");
    // JupyterLab looks for the attribute on the element with the focus only: without it, B on a button inserts a cell.
    root.addEventListener("focusin", event => /** @type {Element} */ (event.target).setAttribute("data-lm-suppress-shortcuts", ""));
    const fold = root.querySelector("details");
    const start = () => {
      const frame = document.createElement("div");
      frame.className = "fx-lab-live";
      fold.querySelector(".fx-lab-still").replaceWith(frame);
      new View(frame, JSON.parse(root.querySelector("script[type='application/json']").textContent));
    };
    if (fold.open) start();
    else fold.addEventListener("toggle", start, {once: true});
  }
};

/** Opens the puzzle that the address names: the chapters link to it. */
const openAsked = () => {
  const asked = [...document.querySelectorAll("[data-fx-puzzle]")].find(root => root.getAttribute("data-fx-puzzle") === location.hash.slice(1));
  if (asked) openFold(asked.querySelector("details"));
};

startAll();
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", startAll);
// Until the page is loaded, the browser goes to the address by itself.
if (document.readyState === "complete") openAsked();
else window.addEventListener("load", openAsked);
window.addEventListener("hashchange", openAsked);
