// Starts each lab of the page when it is opened. The script may run many times, and labs may come later than it, as in a notebook.
import {View} from "./view.js";

const startAll = () => {
  for (const root of document.querySelectorAll(".fx-lab:not([data-fx-on])")) {
    root.setAttribute("data-fx-on", "");
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

startAll();
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", startAll);
