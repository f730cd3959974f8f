// Choose the claims of one chapter, or of one verdict. Without this script the page is the whole list.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const claims = [...document.querySelectorAll(".fx-claim")];
  if (!claims.length) return;
  const form = document.createElement("form");
  form.className = "fx-choose";
  const status = document.createElement("output");
  const choice = (label, values) => {
    const box = document.createElement("label");
    const select = document.createElement("select");
    box.textContent = `${label} `;
    for (const value of ["all", ...values]) select.append(new Option(value, value));
    box.append(select);
    form.append(box);
    return select;
  };
  const unique = (values) => [...new Set(values)].sort();
  const verdict = choice("Verdict", unique(claims.map((claim) => claim.dataset.verdict)));
  const chapter = choice("Chapter", unique(claims.flatMap((claim) => claim.dataset.chapters.split(" "))));
  const show = () => {
    let shown = 0;
    for (const claim of claims) {
      const fits =
        (verdict.value === "all" || claim.dataset.verdict === verdict.value) &&
        (chapter.value === "all" || claim.dataset.chapters.split(" ").includes(chapter.value));
      claim.hidden = !fits;
      shown += fits;
    }
    status.textContent = `${shown} of ${claims.length} claims`;
  };
  form.append(status);
  form.addEventListener("change", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  claims[0].closest("section, article").querySelector("ul.fx-claims, h3").before(form);
  show();
});
