// What was read and solved, kept in this browser and nowhere else. A page counts as read when each tenth of it has been
// on the screen for a moment; an exercise is solved when its box is ticked. Without storage there is nothing to see.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const KEY = "torch-fx-node-by-node";
  const PARTS = 10, LOOK_EVERY = 1000;
  const ALL = 2 ** PARTS - 1;

  // ---- What is kept -------------------------------------------------------------------------------------------------

  // `read`: page to its day, or false where the reader said no; `seen`: page to its tenths, as bits; `solved`: id to its
  // day; a record from before there were days has true instead of one;
  // `puzzles`: those of the graph lab, likewise;
  // `last`: the page that was open last, of those in which one learns.
  const whole = (kept) => ({
    last: typeof kept?.last === "string" ? kept.last : "",
    ...Object.fromEntries(["read", "seen", "solved", "puzzles"].map((part) => {
      const found = kept?.[part];
      return [part, found && typeof found === "object" ? found : {}];
    })),
  });
  const load = () => {
    try { return whole(JSON.parse(localStorage.getItem(KEY))); } catch { return whole(null); }
  };
  // The page has a stand-in for storage, which forgets: see layout.html.
  if ("fxForgets" in document.documentElement.dataset) return;
  try {
    localStorage.setItem(`${KEY}?`, "");
    localStorage.removeItem(`${KEY}?`);
  } catch {
    return;
  }
  const today = () => new Date().toLocaleDateString("sv");
  // Loaded anew for each change, since another tab may have changed it.
  const change = (edit) => {
    const kept = load();
    edit(kept);
    try { localStorage.setItem(KEY, JSON.stringify(kept)); } catch { /* full: then it is forgotten */ }
    show();
  };

  // ---- What there is ------------------------------------------------------------------------------------------------

  const root = new URL(document.documentElement.dataset.content_root, document.baseURI).href;
  const pageOf = (href) => href.slice(root.length).replace(/(\.html)?([?#].*)?$/, "");
  const here = pageOf(location.href);
  const links = [...document.querySelectorAll("nav.bd-docs-nav a")];
  const sums = [...document.querySelectorAll(".fx-solved")].map((sum) => [sum, sum.dataset.fxExercises.split(" ")]);
  const exercises = new Set(sums.flatMap(([, ids]) => ids));
  const chapters = links.filter((link) => /^\d/.test(link.querySelector(".fx-number")?.textContent)).map((link) => pageOf(link.href));
  const make = (name, attributes = {}, ...inside) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.append(...inside);
    return element;
  };
  // The number and the title of a page; that of a chapter for a page below it, whose own says only what kind it is.
  const wording = (link) => {
    const chapter = link.closest(".fx-group")?.querySelector("a") ?? link;
    const titles = [...new Set([chapter, link])].map((one) => [...one.childNodes].filter((node) => !node.className?.match(/fx-(solved|said)/)));
    return titles.map((nodes) => nodes.map((node) => node.textContent).join("").trim().replace(/\s+/g, " ")).join(" · ");
  };
  const box = (label, of, onchange) => {
    const input = make("input", { type: "checkbox" });
    input.addEventListener("change", () => onchange(input.checked));
    return [input, make("label", { className: "fx-tick" }, input, ` ${label}`, make("span", { className: "visually-hidden" }, of))];
  };

  // ---- The boxes: one below the page, one for each exercise -----------------------------------------------------------

  const article = document.querySelector("article.bd-article");
  let readBox = null;
  if (article && links.some((link) => pageOf(link.href) === here)) {
    const [input, label] = box("Read", ": this page", (yes) => change((kept) => { kept.read[here] = yes && today(); }));
    article.after(make("p", { className: "fx-read-box" }, label));
    readBox = input;
  }
  const solvedBoxes = [];
  for (const meta of here.startsWith("exercises/") ? document.querySelectorAll(".fx-meta") : []) {
    const id = [...meta.querySelectorAll("code")].map((code) => code.textContent).find((text) => exercises.has(text));
    if (!id) continue;
    const title = meta.closest("section")?.querySelector("h2")?.firstChild?.textContent ?? id;
    const [input, label] = box("Solved", `: ${title}`, (yes) => change((kept) => {
      if (yes) kept.solved[id] = today();
      else delete kept.solved[id];
    }));
    (meta.querySelector("p") ?? meta).append(" · ", label);
    solvedBoxes.push([id, input]);
  }

  // ---- The sidebar: marks, sums, and where all of it is forgotten ------------------------------------------------------

  const told = document.getElementById("fx-memory");
  const total = make("p");
  // On the front page, the way back to where one was.
  const goOn = make("p", { className: "fx-go-on", hidden: true });
  if (!here.includes("/intro") || !article) goOn.remove();
  else article.querySelector("h1")?.after(goOn);
  const forget = make("button", { type: "button", className: "btn btn-sm" });
  let forgotten = null;
  forget.addEventListener("click", () => {
    if (forgotten) {
      const before = forgotten;
      forgotten = null;
      change((kept) => Object.assign(kept, before));
    } else {
      forgotten = load();
      try { localStorage.removeItem(KEY); } catch { /* nothing was kept */ }
      show();
    }
  });
  told?.append(total, make("details", {},
    make("summary", {}, "Kept in this browser only"),
    make("p", {}, "A page counts as read when all of it has been on your screen, an exercise as solved when you tick it, a puzzle when the graph lab says so. Nothing is sent."),
    forget));

  const puzzles = [...document.querySelectorAll("[data-fx-puzzle] > details > summary")];
  const puzzle = (summary) => summary.closest("[data-fx-puzzle]").dataset.fxPuzzle;
  // One puzzle is open: the first that is not solved, unless the address names one.
  if (!location.hash) puzzles.find((summary) => !load().puzzles[puzzle(summary)])?.parentElement.setAttribute("open", "");
  document.addEventListener("fx-solved", ({ detail }) => load().puzzles[detail] || change((kept) => { kept.puzzles[detail] = today(); }));

  const show = () => {
    const kept = load();
    for (const summary of puzzles) {
      const said = summary.querySelector(".fx-said");
      if (!kept.puzzles[puzzle(summary)]) said?.remove();
      else if (!said) summary.append(make("span", { className: "fx-said" }, "✓ solved"));
    }
    const read = (page) => Boolean(kept.read[page]);
    const solved = (ids) => ids.filter((id) => kept.solved[id]).length;
    for (const link of links) {
      const is = read(pageOf(link.href));
      link.classList.toggle("fx-read", is);
      const said = link.querySelector(".fx-said");
      if (is && !said) link.append(make("span", { className: "fx-said visually-hidden" }, " (read)"));
      else if (!is) said?.remove();
    }
    for (const [sum, ids] of sums) sum.textContent = solved(ids) ? `${solved(ids)} of ${ids.length}` : `${ids.length}`;
    for (const [id, input] of solvedBoxes) input.checked = Boolean(kept.solved[id]);
    if (readBox) readBox.checked = read(here);
    total.textContent = `Read ${chapters.filter(read).length} of ${chapters.length} chapters, ` +
      `solved ${solved([...exercises])} of ${exercises.size} exercises`;
    const left = links.find((link) => pageOf(link.href) === kept.last);
    goOn.hidden = !left;
    if (left) goOn.replaceChildren("Continue with ", make("a", { href: left.href }, wording(left)));
    forget.textContent = forgotten ? "Undo" : "Forget everything";
    if (told) told.hidden = false;
    dispatchEvent(new CustomEvent("fx-memory"));
  };
  // What a page needs that shows the record: see lists.js.
  window.fxMemory = { load, change, whole, pageOf, total: () => total.textContent };

  // ---- Reading --------------------------------------------------------------------------------------------------------

  const inView = () => {
    const { top, height } = article.getBoundingClientRect();
    let bits = 0;
    for (let part = 0; part < PARTS; part++) {
      const middle = top + ((part + 0.5) * height) / PARTS;
      if (middle >= 0 && middle <= innerHeight) bits |= 1 << part;
    }
    return bits;
  };
  const look = () => {
    const kept = load();
    if (forgotten || document.hidden || kept.read[here] !== undefined) return;
    const before = kept.seen[here] ?? 0, now = before | inView();
    if (now === before) return;
    change((later) => {
      if (now === ALL) {
        delete later.seen[here];
        later.read[here] = today();
      } else later.seen[here] = now;
    });
  };
  if (readBox) setInterval(look, LOOK_EVERY);
  if (/^(chapters\/(when_it_breaks\/)?|exercises\/)[\dP]/.test(here)) change((kept) => { kept.last = here; });
  addEventListener("storage", (event) => { if (event.key === KEY || event.key === null) show(); });
  show();
});
