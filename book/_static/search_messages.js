// Lead an error message to the section that is headed by it, whatever names stand in it. The search that comes with the
// site wants every word of it on a page, and lists pages by their titles.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined") return;
  const LEAST_WORDS = 2;
  const MOST_SHOWN = 3;
  const INDEX = "chapters/reference/symptom_index";
  const words = (text) => text.toLowerCase().match(/\w+/g) ?? [];

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

  const headed = (sought) => {
    const { alltitles, docnames, filenames, titles } = Search._index;
    const found = [];
    for (const [title, places] of Object.entries(alltitles)) {
      const heading = words(title);
      const common = inCommon(sought, heading);
      // A message may be pasted in part, and a heading may leave out what follows.
      if (common < Math.min(3, sought.length) || common < 0.7 * Math.min(sought.length, heading.length)) continue;
      const score = common / (sought.length + heading.length - common);
      for (const [page, anchor] of places) {
        if (anchor === null) continue;
        found.push([docnames[page], `${titles[page]} > ${title}`, `#${anchor}`, null, score, filenames[page]]);
      }
    }
    return found.sort((a, b) => a[4] - b[4]).slice(-MOST_SHOWN);
  };

  const search = Search._performSearch;
  Search._performSearch = (query, ...rest) => {
    // The best stands last.
    const found = search(query, ...rest);
    const sought = words(query);
    if (sought.length < LEAST_WORDS) return found;
    const best = headed(sought);
    const { docnames, filenames, titles } = Search._index;
    const index = docnames.indexOf(INDEX);
    if (index < 0 || !(best.length || found.some((result) => result[0] === INDEX))) return found;
    // Behind them the page that lists every message.
    best.unshift([INDEX, titles[index], "", null, 0, filenames[index]]);
    const known = new Set(best.map((result) => result[0] + result[2]));
    return [...found.filter((result) => !known.has(result[0] + result[2])), ...best];
  };
});
