// The search of the site: sections by their words, and an error message by the heading that quotes it. Its index and the
// texts that it shows come as scripts, since a page in a folder may fetch nothing else; book/_ext/search_index.py writes them.
"use strict";
(() => {
  const FIELDS = ["title", "words", "text"];
  const SHOWN = 12;
  const TEXTS_AT_ONCE = 5;
  const AROUND = 90;
  // What a reader looks for first: where a thing is taught.
  const KINDS = [[/^chapters\/\d/, 2], [/^exercises\/|^chapters\/reference\//, 0.6]];
  const SIDE_SECTIONS = /^(exercises|check-yourself|when-it-breaks)$/;
  const MESSAGES = "chapters/reference/symptom_index";
  const MOST_MESSAGES = 3;

  // As in find.py: the same terms come from the same words.
  const COMMON = new Set(("a an and are as at be by for from has have in is it its of on or that the this to was what" +
    " with").split(" "));
  const term = word => word.toLowerCase().replace(/iz(?=e|ing|ation)/g, "is")
    .replace(/([^su].{2})s$|([^s]u.)s$/, "$1$2");
  const words = text => text.match(/[\p{L}\p{N}_]+/gu) ?? [];
  const terms = text => {
    const all = words(text), told = all.filter(word => !COMMON.has(word.toLowerCase()));
    return (told.length ? told : all).map(term);
  };
  // With the whole, as find.py has it for what search_words.yml says in several words.
  const asked = query => {
    const own = terms(query);
    return own.length > 1 ? [...own, own.join("+")] : own;
  };

  let sections = [], lines = [], shared = {};
  const digits = text => parseInt(text, 36);
  const load = given => {
    sections = given.pages.flatMap(([name, title, own]) =>
      own.map(([anchor, heading], at) => ({name, title, anchor, heading, first: !at})));
    lines = given.terms.split("\n");
    const lengths = given.lengths.split(" ").map(own => own.split(",").map(digits));
    shared = {
      documentCount: sections.length, nextId: sections.length, dirtCount: 0, storedFields: {}, serializationVersion: 2,
      documentIds: Object.fromEntries([...sections.keys()].map(at => [at, at])),
      fieldIds: Object.fromEntries(FIELDS.map((field, at) => [field, at])),
      fieldLength: Object.fromEntries(lengths.entries()),
      averageFieldLength: FIELDS.map((_, at) => lengths.reduce((sum, own) => sum + own[at], 0) / lengths.length),
    };
  };
  const read = line => {
    const [word, postings] = line.split(" "), fields = {};
    postings.split("|").forEach((field, at) => {
      if (!field) return;
      let last = -1;
      fields[at] = Object.fromEntries(field.split(",").map(part => {
        const [distance, times] = part.split("*");
        return [last += digits(distance), times ? digits(times) : 1];
      }));
    });
    return [word, fields];
  };
  // What MiniSearch finds. It is given the words that can be found, since to read all of them takes longer than to search.
  const search = (query, fuzzy) => {
    const sought = asked(query);
    const near = fuzzy ? lines : lines.filter(line => sought.some(word => line.startsWith(word)));
    return MiniSearch.loadJS({...shared, index: near.map(read)}, {
      fields: FIELDS, tokenize: asked, processTerm: word => word,
      searchOptions: {
        boost: {title: 5, words: 8, text: 1},
        prefix: word => word.length > 2 && !word.includes("+"),
        fuzzy: word => (fuzzy && word.length > 4 ? 0.2 : false),
        weights: {prefix: 0.3, fuzzy: 0.1},
        boostDocument: at => weight(sections[at]),
      },
    }).search(query);
  };
  const weight = ({name, anchor, first}) =>
    (KINDS.find(([kind]) => kind.test(name)) ?? [0, 1])[1] * (SIDE_SECTIONS.test(anchor) ? 0.5 : first ? 1.1 : 1);

  // How many words two lists have in common, in the same order.
  const inCommon = (one, other) => {
    let row = new Array(other.length + 1).fill(0);
    for (const word of one) {
      const next = [0];
      other.forEach((it, i) => next.push(it === word ? row[i] + 1 : Math.max(row[i + 1], next[i])));
      row = next;
    }
    return row[other.length];
  };

  // The sections that are headed by a message, whatever names stand in it. A message may be pasted in part, and a heading
  // may leave out what follows.
  const headed = query => {
    const lower = text => words(text).map(word => word.toLowerCase());
    const sought = lower(query);
    if (sought.length < 2) return [];
    // A few words are no message, unless they are most of one.
    const least = sought.length < 4 ? 0.5 : 0;
    const found = [];
    for (const section of sections) {
      if (!/^chapters\/(\d|when)/.test(section.name)) continue;
      const heading = lower(section.heading), common = inCommon(sought, heading);
      if (common < Math.min(3, sought.length) || common < 0.7 * Math.min(sought.length, heading.length)) continue;
      const score = common / (sought.length + heading.length - common);
      if (score >= least) found.push([score, section]);
    }
    return found.sort((one, other) => other[0] - one[0]).slice(0, MOST_MESSAGES).map(([, section]) => section);
  };

  // The sections for a query, the best first.
  const find = query => {
    let told = search(query, false);
    // A slip of the finger.
    if (!told.length) told = search(query, true);
    // What has all of the words stands before what has one of them often.
    const count = terms(query).length;
    const share = hit => hit.score * (Math.min(hit.queryTerms.length, count) / count) ** 2;
    const hits = told.sort((one, other) => share(other) - share(one)).map(hit => sections[hit.id]);
    const messages = headed(query);
    if (messages.length || hits.some(section => section.name === MESSAGES)) {
      // Behind them the page that lists every message.
      const list = sections.find(section => section.name === MESSAGES);
      if (list && (messages.length || words(query).length > 1)) messages.length ? messages.push(list) : hits.splice(3, 0, list);
    }
    return [...new Set([...messages, ...hits])];
  };

  // ---- the page ------------------------------------------------------------------------------------------------------

  const make = (name, attributes, ...children) => {
    const element = document.createElement(name);
    Object.assign(element, attributes);
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
    const marks = [...text.matchAll(/[\p{L}\p{N}_]+/gu)].filter(({0: word}) => sought.some(it => term(word).includes(it)));
    if (!marks.length) return [text.slice(0, 2 * AROUND) + (text.length > 2 * AROUND ? " …" : "")];
    const near = mark => new Set(marks.filter(other => Math.abs(other.index - mark.index) < AROUND).map(other => term(other[0]))).size;
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

  const result = (section, sought, at, query) => {
    const {name, title, anchor, heading, first} = section;
    const link = make("a", {href: `${root}${name}.html${first ? "" : `#${anchor}`}`}, heading);
    link.addEventListener("click", () => localStorage.setItem("sphinx_highlight_terms", sought.join(" ")));
    const text = make("p", {className: "fx-found-text"});
    if (at < TEXTS_AT_ONCE) withText(name, () => text.replaceChildren(...snippet(texts.get(name).get(anchor) ?? "", sought)));
    const place = make("p", {className: "fx-found-place"}, first ? "The page" : title);
    return make("li", {}, link, place, text);
  };

  const start = () => {
    const field = document.querySelector(".bd-search-container input[name=q]"), list = document.querySelector("#search-results");
    const told = document.querySelector("#search-told");
    const show = () => {
      const query = field.value.trim(), found = query ? find(query) : [];
      const sought = terms(query).filter(word => word.length > 1);
      list.replaceChildren(...found.slice(0, SHOWN).map((section, at) => result(section, sought, at)));
      told.textContent = !query ? "" : found.length
        ? `${found.length === 1 ? "1 section" : `${found.length} sections`}, the best first.`
        : "Nothing has these words. Try fewer, or the middle of an error message.";
      history.replaceState(null, "", query ? `?q=${encodeURIComponent(query)}` : location.pathname);
    };
    field.value = new URLSearchParams(location.search).get("q") ?? "";
    field.focus();
    let timer = 0;
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(show, 80);
    });
    field.form.addEventListener("submit", event => {
      event.preventDefault();
      show();
    });
    show();
  };

  window.fxIndex = load;
  window.fxFind = query => find(query).map(({name, title, anchor, heading, first}) =>
    [name, first ? title : `${title} > ${heading}`, anchor]);
  window.fxSearch = start;
})();
