// Shows what find.js finds while one types: on the page of the search, and below the field of the search on every page.
"use strict";
(() => {
  const SHOWN = 12, LEAST = 3, PAUSE = 120, AROUND = 90;
  const EXAMPLES = ["erase_node", "graph break", "'Proxy' object cannot be iterated", "get intermediate activations", "LoRA"];

  const make = (name, attributes, ...children) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.append(...children);
    return element;
  };
  const root = document.documentElement.dataset.content_root;
  const texts = new Map(), awaited = new Map();
  window.fxText = ([name, , own]) => {
    texts.set(name, new Map(own.map(([anchor, , text]) => [anchor, text])));
    (awaited.get(name) ?? []).forEach(show => show());
    awaited.delete(name);
  };
  const withText = (name, show) => {
    if (texts.has(name)) return show();
    if (awaited.has(name)) return awaited.get(name).push(show);
    awaited.set(name, [show]);
    document.head.append(make("script", {src: `${root}_static/search/pages/${name.replaceAll("/", ".")}.js`}));
  };

  // The part of a text where most of the sought words are, with these marked.
  const snippet = (text, sought) => {
    const marks = [...text.matchAll(/[\p{L}\p{N}_]+/gu)].filter(({0: word}) => sought.some(it => fxTerms(word)[0]?.includes(it)));
    if (!marks.length) return [text.slice(0, 2 * AROUND) + (text.length > 2 * AROUND ? " …" : "")];
    const near = mark => new Set(marks.filter(other => Math.abs(other.index - mark.index) < AROUND).map(other => other[0].toLowerCase())).size;
    const best = marks.reduce((one, other) => (near(other) > near(one) ? other : one));
    const begin = best.index < AROUND ? 0 : text.indexOf(" ", best.index - AROUND) + 1;
    const blank = text.indexOf(" ", best.index + 2 * AROUND), end = blank < 0 ? text.length : blank;
    const parts = begin ? ["… "] : [];
    let at = begin;
    for (const {0: word, index} of marks) {
      if (index < at || index + word.length > end) continue;
      parts.push(text.slice(at, index), make("mark", {}, word));
      at = index + word.length;
    }
    return [...parts, text.slice(at, end), end < text.length ? " …" : ""];
  };

  const result = ({name, title, anchor, heading, first}, sought) => {
    const link = make("a", {href: `${root}${name}.html${first ? "" : `#${anchor}`}`}, heading);
    link.addEventListener("click", () => localStorage.setItem("sphinx_highlight_terms", sought.join(" ")));
    const text = make("p", {className: "fx-found-text"});
    const item = make("li", {}, link, make("p", {className: "fx-found-place"}, first ? "The page" : title), text);
    // Its text is fetched once the result is in view.
    new IntersectionObserver((entries, observer) => {
      if (!entries.some(entry => entry.isIntersecting)) return;
      observer.disconnect();
      withText(name, () => text.replaceChildren(...snippet(texts.get(name).get(anchor) ?? "", sought)));
    }).observe(item);
    return item;
  };
  const elsewhere = ({name, link}) => make("li", {className: "fx-absent"}, "See ", make("a", {href: link}, `the official page on ${name}`), ".");

  // Results for the words of a field, in a list; the status says how many there are.
  window.fxSearch = (field, list, status, changed = () => {}) => {
    const more = make("button", {type: "button", className: "btn btn-sm fx-more", hidden: true}, "Show more");
    list.after(more);
    let found = [], sought = [], shown = 0, said = "";
    const grow = () => {
      list.append(...found.slice(shown, shown + SHOWN).map(section => result(section, sought)));
      shown = Math.min(shown + SHOWN, found.length);
      more.hidden = shown === found.length;
      status.textContent = said + (!found.length ? ""
        : shown === found.length ? `${found.length} ${found.length === 1 ? "section" : "sections"}, best first.`
        : `The best ${shown} of ${found.length} sections.`);
    };
    const examples = () => list.replaceChildren(...EXAMPLES.map(example => {
      const button = make("button", {type: "button", className: "btn btn-sm"}, example);
      button.addEventListener("click", () => {
        field.value = example;
        field.focus();
        show();
      });
      return make("li", {className: "fx-example"}, button);
    }));
    const show = () => {
      const query = field.value.trim(), away = query && fxAbsent(query);
      found = query ? fxSections(query) : [];
      sought = fxTerms(query).filter(word => word.length > 1);
      shown = 0;
      list.replaceChildren(...(away ? [elsewhere(away)] : []));
      said = !query ? "Type a name, or paste an error message. For example:" : away ? `${away.name}: not in this book. `
        : found.length ? "" : "Nothing has these words. Try fewer, or the middle of an error message.";
      grow();
      if (!query) examples();
      changed(query);
    };
    more.addEventListener("click", () => {
      const next = list.children.length;
      grow();
      list.children[next]?.querySelector("a").focus();
    });
    let timer = 0;
    field.addEventListener("input", () => {
      clearTimeout(timer);
      const length = field.value.trim().length;
      if (!length || length >= LEAST) timer = setTimeout(show, PAUSE);
    });
    // Down from the field to the first result, up and down among them, and up again to the field.
    const keys = event => {
      const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
      if (!step || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const stops = [field, ...list.querySelectorAll("a, button"), ...(more.hidden ? [] : [more])];
      const at = stops.indexOf(document.activeElement);
      if (at < 0) return;
      event.preventDefault();
      stops[Math.max(0, Math.min(at + step, stops.length - 1))].focus();
    };
    for (const element of [field, list, more]) element.addEventListener("keydown", keys);
    show();
    return show;
  };
})();
