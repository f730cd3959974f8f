// Where a lab stands in the book: links to its sections, and the messages that they explain. A notebook has no such links.

/** Each message with the entry that explains it. @type {[RegExp, string][]} */
export const MESSAGES = [
  [/was used before it has been defined/, "when_it_breaks/03_replacement#runtimeerror-argument-act-of-node-gelu-was-used-before-it-has-been-defined"],
  [/^Tried to erase Node/, "when_it_breaks/02_insertion_points#runtimeerror-tried-to-erase-node-tanh-but-it-still-had-3-users-in-the-graph"],
  [/^cannot access local variable/, "when_it_breaks/02_insertion_points#unboundlocalerror-cannot-access-local-variable-down-where-it-is-not-associated-with-a-value"],
  [/^duplicate argument/, "when_it_breaks/01_node_creation#syntaxerror-duplicate-argument-x-in-function-definition"],
  [/^expected an indented block/, "when_it_breaks/01_node_creation#no-output-node"],
  [/^name 'output/, "when_it_breaks/02_insertion_points#unboundlocalerror-cannot-access-local-variable-down-where-it-is-not-associated-with-a-value"],
  [/^Replacement index/, "when_it_breaks/03_replacement#indexerror-replacement-index-1-out-of-range-for-positional-args-tuple"],
];

/** Where a reader continues after the last puzzle. */
export const NEXT_CHAPTER = "05_control_flow_limits";

/** The address of a chapter or of a section of it on the site; "" elsewhere. @param {string} section */
export const addressOf = section => {
  const root = document.documentElement.dataset.content_root;
  if (root === undefined) return "";
  const [page, heading] = section.split("#");
  return `${root}chapters/${page}.html${heading ? `#${heading}` : ""}`;
};

/** @param {string} message @returns {string} the address of the entry that explains it, or "" */
export const explained = message => {
  const found = MESSAGES.find(([pattern]) => pattern.test(message));
  return found ? addressOf(found[1]) : "";
};

/** Opens the fold of a puzzle and takes the reader there. @param {HTMLDetailsElement} fold */
export const openFold = fold => {
  fold.open = true;
  fold.scrollIntoView();
  fold.querySelector("summary").focus({preventScroll: true});
};

/** Tells the page that a puzzle is solved, so that the book can remember it. @param {string} puzzle */
export const tellSolved = puzzle => document.dispatchEvent(new CustomEvent("fx-solved", {detail: puzzle}));
