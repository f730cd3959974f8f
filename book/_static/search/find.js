// What the search of the site finds: sections by their words, and an error message by the message that it is like. Its index
// comes as a script, since a page in a folder may fetch nothing else; book/_ext/search_index.py writes it.
"use strict";
(() => {
  const TITLE = 0, WORDS = 1, TEXT = 2;
  const BOOST = {[TITLE]: 5, [WORDS]: 8, [TEXT]: 1};
  const PREFIX = 0.3, FUZZY = 0.1, SLIPS = 0.2;
  // What a reader looks for first: where a thing is taught. A page that lists things comes after the page of the thing.
  const KINDS = [[/^chapters\/\d/, 2], [/^chapters\/when/, 0.8], [/^chapters\/reference\/(api|arch|random|status|wild|sol)/, 0.3],
    [/^exercises\/|^chapters\/reference\/(?!exer)/, 0.6]];
  const SIDE_SECTIONS = /^(exercises|check-yourself|when-it-breaks)$/;
  const MOST_MESSAGES = 3;

  // As in search_index.py: the same terms come from the same words.
  const COMMON = new Set(("a an and are as at be by for from has have in is it its of on or that the this to was what" +
    " with").split(" "));
  // Nor do these tell one question from another.
  const ASKING = new Set(("can could do does did each every get got how i me my should there use using want way we where which" +
    " why you your").split(" "));
  const term = word => word.toLowerCase().replace(/iz(?=e|ing|ation)/g, "is")
    .replace(/([^su].{2})s$|([^s]u.)s$/, "$1$2");
  const words = text => text.match(/[\p{L}\p{N}_]+/gu) ?? [];
  const terms = text => {
    const all = words(text), telling = all.filter(word => !COMMON.has(word.toLowerCase()));
    const own = telling.filter(word => !ASKING.has(word.toLowerCase()));
    return (own.length ? own : telling.length ? telling : all).map(term);
  };
  const phrase = text => words(text).map(term).join("+");
  // A traceback without its places in files, and without the calls that led to the error.
  const PLACE = /\bFile "[^"]*"(, line \d+, in )?|\S*\/\S+\.py\S*|\b\w+\.py\b\S*|,? \bline \d+\b,?/g;
  const plain = text => (/^Traceback |\bFile "/.test(text) ? text.replace(/^.*? (?=[\w.]*(Error|Exception): )/, "") : text)
    .replace(PLACE, " ").trim() || text;

  let sections = [], lines = [], lengths = [], average = [], messages = [], absent = [];
  const weights = new Map();
  const digits = text => parseInt(text, 36);
  const slug = heading => heading.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^[-0-9]+|-$/g, "");
  const load = given => {
    sections = given.pages.flatMap(([name, title, own]) => own.map((section, at) => {
      const [heading, anchor] = [section].flat();
      return {name, title, heading, anchor: anchor ?? slug(heading), first: !at};
    }));
    lines = given.terms.split("\n");
    lengths = given.lengths.split(" ").map(own => own.split(",").map(digits));
    average = [TITLE, WORDS, TEXT].map(at => lengths.reduce((sum, own) => sum + own[at], 0) / lengths.length);
    absent = given.absent;
    const listed = given.messages.split("\n").map(line => line.split("\t"));
    messages = [
      ...sections.filter(({name}) => /^chapters\/(\d|when)/.test(name)).map(section => [section.heading, section]),
      ...listed.map(([text, at, shown]) => [text, sections[digits(at)], shown]),
    ].map(([text, section, shown]) => ({own: parts(text), first: parts(opening(text)), section, shown}));
    const counts = new Map();
    for (const {own} of messages) for (const word of new Set(own.map(part => part.word))) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const [word, count] of counts) weights.set(word, Math.log(1 + messages.length / (count + 4)));
  };

  // ---- words -----------------------------------------------------------------------------------------------------------

  // The sections that have a term, with what each field scores: BM25+.
  const score = (line, factor, into) => {
    line.slice(line.indexOf(" ") + 1).split("|").forEach((postings, field) => {
      if (!postings) return;
      const hits = postings.split(",");
      const rare = Math.log(1 + (sections.length - hits.length + 0.5) / (hits.length + 0.5));
      let at = -1;
      for (const hit of hits) {
        const [distance, times] = hit.split("*");
        at += digits(distance);
        const often = times ? digits(times) : 1, length = lengths[at][field] / average[field];
        const worth = factor * BOOST[field] * rare * (0.5 + (often * 2.2) / (often + 1.2 * (0.3 + 0.7 * length)));
        into.set(at, (into.get(at) ?? 0) + worth);
      }
    });
  };
  // How many signs have to be changed to make one word of the other; no more than so many.
  const slips = (one, other, most) => {
    if (Math.abs(one.length - other.length) > most) return most + 1;
    let row = [...Array(other.length + 1).keys()];
    for (let i = 0; i < one.length; i++) {
      const next = [i + 1];
      for (let j = 0; j < other.length; j++)
        next.push(Math.min(row[j] + (one[i] !== other[j]), row[j + 1] + 1, next[j] + 1));
      if (Math.min(...next) > most) return most + 1;
      row = next;
    }
    return row[other.length];
  };
  const scores = (word, most) => {
    const into = new Map();
    const long = word.length > 2 && !word.includes("+");
    for (const line of lines) {
      if (long ? line.startsWith(word) : line.startsWith(`${word} `)) {
        const more = line.indexOf(" ") - word.length;
        score(line, more ? (PREFIX * word.length) / (word.length + 0.3 * more) : 1, into);
      } else if (most) {
        const other = line.slice(0, line.indexOf(" ")), apart = slips(word, other, most);
        if (apart <= most) score(line, (FUZZY * word.length) / (word.length + apart), into);
      }
    }
    return into;
  };
  const weight = ({name, anchor, first}) =>
    (KINDS.find(([kind]) => kind.test(name)) ?? [0, 1])[1] * (SIDE_SECTIONS.test(anchor) ? 0.5 : first ? 1.1 : 1);
  // What is found for a word; else for its parts, as in __bool__; else for a word that differs by a slip of the finger.
  const found = word => {
    const exact = scores(word, 0);
    if (exact.size || word.includes("+")) return exact;
    const parts = word.split("_").filter(part => part.length > 2);
    if (parts.length && parts[0] !== word) return new Map(parts.flatMap(part => [...scores(part, 0)]));
    return word.length > 4 ? scores(word, Math.round(SLIPS * word.length)) : exact;
  };
  const search = query => {
    const own = [...new Set(terms(query))], whole = phrase(query);
    const total = new Map();
    for (const word of new Set([...own, ...(whole.includes("+") ? [whole] : [])])) {
      for (const [at, worth] of found(word)) {
        const hit = total.get(at) ?? {at, worth: 0, found: 0};
        hit.worth += worth * weight(sections[at]);
        hit.found++;
        total.set(at, hit);
      }
    }
    // What has all of the words stands before what has one of them often.
    const share = hit => hit.worth * hit.found * Math.min(hit.found / own.length, 1) ** 2;
    return [...total.values()].sort((one, other) => share(other) - share(one)).map(hit => sections[hit.at]);
  };

  // ---- messages --------------------------------------------------------------------------------------------------------

  // The words of a message, each with whether it may be another one: a name in quotes, a number.
  const parts = text => [...text.matchAll(/(['"`%‘]?)([\p{L}\p{N}_]+)/gu)].map(([, quote, word]) =>
    ({word: word.toLowerCase(), free: Boolean(quote) || /\d/.test(word)}));
  const opening = text => text.split(/(?<=[\p{L}\d)'!][.!?]) /u)[0];
  const OPTIONAL = 0.25, SHOWN = 0.7, OPENING = 0.6;
  const worth = ({word, free}) => (weights.get(word) ?? 0.6) * (free || !weights.has(word) ? OPTIONAL : 1);
  const sum = own => own.reduce((all, part) => all + worth(part), 0);
  // What two messages have in common, in the same order.
  const inCommon = (one, other) => {
    let row = new Array(other.length + 1).fill(0);
    for (const {word} of one) {
      const next = [0];
      other.forEach((it, i) => next.push(it.word === word ? row[i] + (weights.get(word) ?? 0) : Math.max(row[i + 1], next[i])));
      row = next;
    }
    return row[other.length];
  };
  // The sections of messages like the one that is sought, whatever names stand in it. It may be pasted in part, and what
  // is listed may leave out how it goes on.
  const alike = query => {
    const best = new Map();
    // A few words are a message if they look like one.
    if (words(query).length < 3 && !/Error|Exception|Warning|['"%!]/.test(query)) return [];
    compare(parts(query), message => message.own, 1, best);
    // Many messages end with the same advice.
    if (opening(query) !== query) compare(parts(opening(query)), message => message.first, 1 / OPENING, best);
    const ranked = [...best].sort((one, other) => other[1] - one[1]).map(([section]) => section);
    // Of each page the best one first.
    const firsts = ranked.filter((section, at) => ranked.findIndex(other => other.name === section.name) === at);
    return [...new Set([...firsts, ...ranked])].slice(0, MOST_MESSAGES);
  };
  const compare = (sought, ownOf, factor, best) => {
    const all = sum(sought);
    if (sought.length < 2) return;
    for (const message of messages) {
      const own = ownOf(message), {section, shown} = message;
      const common = inCommon(sought, own);
      if (common < 4) continue;
      const ofSought = Math.min(common / all, 1), ofOwn = Math.min(common / sum(own), 1);
      if (Math.max(ofSought, ofOwn) < 0.7 || (sought.length < 4 && Math.min(ofSought, ofOwn) < 0.6)) continue;
      const like = factor * (ofSought + ofOwn + Math.max(ofSought, ofOwn)) * Math.sqrt(common)
        * (/^chapters\/\d/.test(section.name) ? 1.1 : 1) * (shown ? SHOWN : 1);
      if (like > (best.get(section) ?? 0)) best.set(section, like);
    }
  };

  // The subject of a query that the book does not have: its name and where to read about it.
  const missing = query => {
    const asked = `+${phrase(query)}+`;
    return words(query).length > 8 ? undefined
      : absent.find(({words: own}) => own.some(one => asked.includes(`+${phrase(one)}+`)));
  };

  // The sections for a query, the best first.
  const find = query => {
    const asked = plain(query);
    return [...new Set([...alike(asked), ...search(asked)])];
  };

  window.fxIndex = load;
  window.fxSections = find;
  window.fxAbsent = missing;
  window.fxTerms = terms;
  window.fxFind = query => {
    const away = missing(query), hits = find(query).map(({name, title, anchor, heading, first}) =>
      [name, first ? title : `${title} > ${heading}`, anchor]);
    return away ? [["not here", away.name, away.link], ...hits] : hits;
  };
})();
