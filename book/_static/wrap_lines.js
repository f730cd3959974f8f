// On a phone a line of code that is too long goes on in the next one, behind a mark, in place of scrolling sideways.
// Each line becomes an element for that; on a wide screen, or without this script, the code stays as it was built.
(() => {
  "use strict";
  const narrow = matchMedia("(max-width: 600px)");

  // The lines of a highlighted text; a piece that spans several lines, such as a docstring, begins anew in each.
  const linesOf = html => {
    const open = [];
    return html.replace(/\n$/, "").split("\n").map(text => {
      const before = open.join("");
      for (const [tag] of text.matchAll(/<[^>]*>/g)) {
        if (tag.startsWith("</")) open.pop();
        else open.push(tag);
      }
      const after = open.map(tag => `</${tag.match(/^<([a-z]+)/)[1]}>`).reverse().join("");
      return `<span class="fx-line">${before}${text}${after}\n</span>`;
    });
  };

  const wrap = () => {
    if (!narrow.matches) return;
    for (const code of document.querySelectorAll("article div.cell_input pre:not(.fx-wrapped)")) {
      code.innerHTML = linesOf(code.innerHTML).join("");
      code.classList.add("fx-wrapped");
    }
  };
  narrow.addEventListener("change", wrap);
  wrap();
})();
