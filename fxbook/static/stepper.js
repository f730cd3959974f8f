// Turns stacked frames into a player. Every stepper carries this script; it may run many times in a page, and steppers
// may come later than it, as they do in a notebook.
(() => {
  "use strict";
  const make = (name, attributes, text) => {
    const element = document.createElement(name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text) element.textContent = text;
    return element;
  };

  // How to step each player of the page.
  const players = new Map();

  const start = root => {
    root.dataset.fxOn = "";
    const box = root.querySelector(".fx-frames");
    const frames = [...box.querySelectorAll(".fx-frame")];
    box.replaceChildren(...frames);
    const last = frames.length - 1;
    let now = -1, held = null, timer = 0;

    // The drawing itself moves in here, since pointers do not reach into <use>; the printed frames still use it.
    const films = [...frames[0].querySelectorAll(".fx-film")].map(panel => {
      const live = panel.cloneNode(true);
      const svg = live.querySelector("svg"), use = svg.querySelector("use");
      const drawn = document.querySelector(use.getAttribute("href")), kept = drawn.closest(".fx-defs");
      use.replaceWith(drawn);
      kept.remove();
      if (drawn.querySelector("[data-fx-node]")) svg.setAttribute("role", "group");
      box.append(live);
      return {live, svg, name: panel.dataset.fxPanel};
    });
    root.classList.add("fx-live");

    const back = make("button", {type: "button"}, "‹ Back");
    const next = make("button", {type: "button"}, "Next ›");
    const play = make("button", {type: "button"}, "▶ Play");
    const slider = make("input", {type: "range", min: 1, max: last + 1, step: 1, "aria-label": "Frame"});
    const heard = make("p", {class: "fx-heard", "aria-live": "polite"});
    const status = make("p", {class: "fx-status"});
    const bar = make("div", {class: "fx-bar"});
    if (last > 0) {
      const steps = make("div", {class: "fx-steps", role: "group", "aria-label": "Frames"});
      steps.append(back, next, slider, play);
      bar.append(steps);
      box.before(heard);
    }
    const foot = make("div", {class: "fx-foot"});
    const legend = root.querySelector(":scope > .fx-key");
    box.after(foot);
    foot.append(status, ...legend ? [legend] : []);

    // Where there is room for one panel only, a button for each.
    const panels = name => box.querySelectorAll(`.fx-panel[data-fx-panel="${name}"]`);
    const tabs = [...frames[0].querySelectorAll(".fx-panel")].map(panel =>
      make("button", {type: "button", "data-fx-picks": panel.dataset.fxPanel}, panel.dataset.fxTab));
    const pick = chosen => tabs.forEach(tab => {
      tab.setAttribute("aria-pressed", tab === chosen);
      panels(tab.dataset.fxPicks).forEach(panel => panel.classList.toggle("fx-picked", tab === chosen));
    });
    tabs.forEach(tab => tab.addEventListener("click", () => pick(tab)));
    if (tabs.length > 1) {
      const row = make("div", {class: "fx-tabs", role: "group", "aria-label": "Views of each frame"});
      row.append(...tabs);
      bar.append(row);
    }
    if (bar.hasChildNodes()) {
      bar.prepend(root.querySelector(":scope > .fx-title"));
      box.before(bar);
    }
    pick(tabs.find(tab => films.some(film => film.name === tab.dataset.fxPicks && film.name !== "memory")) || tabs[0]);

    const seen = element => getComputedStyle(element).visibility === "visible";
    const all = (selector, inside = [frames[now], ...films.map(film => film.live)]) =>
      inside.flatMap(part => [...part.querySelectorAll(selector)]);
    const row = key => frames[now].querySelector(`tr[data-fx-node="${key}"]`);
    const reads = line => (line && line.dataset.fxReads || "").split(" ").filter(Boolean);
    const names = keys => keys.map(key => (row(key) || {dataset: {}}).dataset.fxName).filter(Boolean).join(", ");

    const mark = key => {
      all(".fx-hot, .fx-in, .fx-out").forEach(part => part.classList.remove("fx-hot", "fx-in", "fx-out"));
      const line = key && row(key);
      if (!line) {
        status.textContent = "Point at a node, a row or a line of code to mark everything that belongs to it.";
        return;
      }
      const inputs = reads(line);
      const users = all("tr[data-fx-node]").filter(other => reads(other).includes(key)).map(other => other.dataset.fxNode);
      for (const part of all("[data-fx-node]")) {
        const own = part.dataset.fxNode;
        part.classList.toggle("fx-hot", own === key);
        part.classList.toggle("fx-in", own !== key && inputs.includes(own));
        part.classList.toggle("fx-out", own !== key && users.includes(own));
      }
      for (const edge of all(".fx-edge:not(.fx-removed)")) {
        edge.classList.toggle("fx-hot", (edge.dataset.fxEdge || "").split(" ").includes(key));
      }
      const code = frames[now].querySelector("pre");
      const parts = [
        inputs.length ? `uses ${names(inputs)} (dashed)` : "uses nothing",
        users.length ? `is used by ${names(users)} (dotted)` : "has no users",
      ];
      if (code && !code.querySelector(`[data-fx-node="${key}"]`)) parts.push("has no line in this code");
      status.textContent = `${line.dataset.fxName} ${parts.join("; ")}.`;
    };

    // One stop for the Tab key in each list and drawing; Up and Down move on from there.
    const groups = () => [...all("table"), ...all("pre"), ...films.map(film => film.svg)];
    const members = group => [...group.querySelectorAll("tr[data-fx-node], .fx-node[data-fx-node], .fx-row[data-fx-node]")]
      .filter(part => !part.dataset.fxNode.startsWith("-") && (!part.closest("svg") || seen(part)));
    const rove = () => {
      // All is read before anything is written, so that the browser computes styles once.
      for (const [group, parts] of groups().map(group => [group, members(group)])) {
        group.querySelectorAll("[tabindex]").forEach(part => parts.includes(part) || part.removeAttribute("tabindex"));
        parts.forEach((part, at) => {
          part.setAttribute("tabindex", at ? -1 : 0);
          if (part.closest("svg")) {
            part.setAttribute("role", "img");
            part.setAttribute("aria-label", names([part.dataset.fxNode]) || "node");
          }
        });
      }
    };

    const go = (to, quiet) => {
      to = Math.max(0, Math.min(last, to));
      if (to === now) return;
      const focused = root.contains(document.activeElement) && document.activeElement.closest("[data-fx-node]");
      const forward = to === now + 1;
      now = to;
      frames.forEach((frame, at) => frame.classList.toggle("fx-now", at === now));
      for (const film of films) {
        const there = frames[now].querySelector(`.fx-film[data-fx-panel="${film.name}"] svg`);
        if (!there) continue;
        film.svg.style.cssText = there.style.cssText;
        film.svg.setAttribute("aria-label", there.getAttribute("aria-label"));
        if (forward && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
          film.svg.querySelectorAll("[data-fx-from]").forEach(part => seen(part) && part.animate(
            [{transform: `translateY(${part.dataset.fxFrom}px)`}, {transform: "none"}], {duration: 700, easing: "ease-in-out"}));
        }
      }
      slider.value = now + 1;
      const caption = frames[now].querySelector(".fx-caption").textContent;
      slider.setAttribute("aria-valuetext", caption.replace("/", " of "));
      back.setAttribute("aria-disabled", now === 0);
      next.setAttribute("aria-disabled", now === last);
      if (!quiet && document.activeElement !== slider) {
        const said = [...frames[now].querySelectorAll(".fx-remarks li")].map(item => item.textContent);
        heard.textContent = [`Frame ${caption.replace("/", " of ")}`, ...said].join(". ");
      }
      rove();
      if (focused && !seen(focused)) {
        const group = focused.closest("table") ? "tr" : focused.closest("pre") ? ".fx-row" : ".fx-node";
        const same = all(`${group}[data-fx-node="${focused.dataset.fxNode}"]`).find(seen);
        (same || root).focus({preventScroll: true});
      }
      mark(held);
    };

    const stop = () => {
      clearInterval(timer);
      timer = 0;
      play.textContent = "▶ Play";
    };
    play.addEventListener("click", () => {
      if (timer) return stop();
      play.textContent = "❚❚ Pause";
      if (now === last) go(0);
      timer = setInterval(() => {
        if (!root.isConnected) return stop();
        go(now + 1);
        if (now === last) stop();
      }, 2600);
    });
    const step = by => { stop(); go(now + by); };
    back.addEventListener("click", () => step(-1));
    next.addEventListener("click", () => step(1));
    slider.addEventListener("input", () => { stop(); go(slider.value - 1); });

    const keyOf = target => {
      const part = target.closest && target.closest("[data-fx-node]");
      return part ? part.dataset.fxNode : null;
    };
    const steps = {ArrowLeft: -1, ArrowRight: 1, p: -1, n: 1, Home: -2, End: 2};
    if (last > 0) players.set(root, step);
    root.addEventListener("keydown", event => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const target = event.target, scrolls = target.matches(".fx-scroll") && target.scrollWidth > target.clientWidth;
      const along = {ArrowUp: -1, ArrowDown: 1}[event.key];
      const by = target === slider && along ? -along : steps[event.key];
      if (scrolls && event.key.startsWith("Arrow")) return event.stopPropagation();
      if (event.key === "Escape") mark(held = null);
      else if (by !== undefined && last > 0) step(by * (Math.abs(by) > 1 ? last : 1));
      else if (along && target.matches("[data-fx-node]")) {
        const line = members(target.closest("table, pre, svg"));
        const to = line[line.indexOf(target) + along];
        if (to) {
          line.forEach(part => part.setAttribute("tabindex", part === to ? 0 : -1));
          to.focus();
        }
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
    // A swipe over a drawing steps, unless the drawing itself scrolls sideways.
    let touch = null;
    root.addEventListener("touchstart", event => {
      const picture = event.target.closest(".fx-scroll");
      const steps = event.touches.length === 1 && last > 0 && picture && picture.scrollWidth <= picture.clientWidth;
      touch = steps ? event.touches[0] : null;
    }, {passive: true});
    root.addEventListener("touchend", event => {
      const ends = touch && event.changedTouches[0];
      if (!ends) return;
      const right = ends.clientX - touch.clientX, down = ends.clientY - touch.clientY;
      touch = null;
      if (Math.abs(right) > 40 && Math.abs(right) > 2 * Math.abs(down)) step(right < 0 ? 1 : -1);
    }, {passive: true});
    root.addEventListener("touchcancel", () => { touch = null; }, {passive: true});
    root.addEventListener("pointerover", event => event.pointerType !== "touch" && mark(keyOf(event.target) || held));
    root.addEventListener("pointerleave", event => event.pointerType !== "touch" && mark(held));
    root.addEventListener("focusin", event => {
      // JupyterLab looks for this on the focused element only: without it, B on a button inserts a cell.
      event.target.setAttribute("data-lm-suppress-shortcuts", "");
      const key = keyOf(event.target);
      if (key) mark(held = key);
    });
    root.addEventListener("focusout", event => {
      if (event.relatedTarget && !root.contains(event.relatedTarget)) mark(held = null);
    });
    root.addEventListener("click", event => {
      if (!event.target.closest(".fx-steps, .fx-tabs")) mark(held = keyOf(event.target));
    });
    go(0, true);
  };

  // The script is the last thing in a stepper: if it is there, the stepper is complete.
  const startAll = () => document.querySelectorAll(".fx-stepper:not([data-fx-on])").forEach(root => {
    if (root.querySelector(":scope > script")) start(root);
  });
  // The keys n and p step the player that fills most of the screen. A notebook has its own commands on single keys.
  const shown = root => {
    const {top, bottom} = root.getBoundingClientRect();
    return root.isConnected && root.checkVisibility() ? Math.min(bottom, innerHeight) - Math.max(top, 0) : 0;
  };
  const onKey = event => {
    const by = {p: -1, n: 1}[event.key];
    if (!by || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.closest && event.target.closest("input, textarea, select, [contenteditable], dialog")) return;
    if (document.querySelector(".jp-Notebook, #notebook")) return;
    const root = [...players.keys()].sort((one, other) => shown(other) - shown(one))[0];
    if (!root || shown(root) <= 0) return;
    players.get(root)(by);
    event.preventDefault();
  };
  if (!window.fxSteppers) {
    window.fxSteppers = startAll;
    document.addEventListener("keydown", onKey);
    new MutationObserver(startAll).observe(document.documentElement, {childList: true, subtree: true});
  }
  window.fxSteppers();
})();
