// Keep in view, in the contents at the right, the section that is read; and in the sidebar, the page that is open.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const MARGIN = 60;

  // Only the box scrolls, never the page.
  const show = (box, entry) => {
    if (!box || !entry) return;
    const outer = box.getBoundingClientRect(), inner = entry.getBoundingClientRect();
    const above = inner.top - MARGIN - outer.top, below = inner.bottom + MARGIN - outer.bottom;
    if (above < 0) box.scrollTop += above;
    else if (below > 0) box.scrollTop += below;
  };
  const scroller = (element) => {
    for (let box = element; box; box = box.parentElement) {
      if (box.scrollHeight > box.clientHeight && /auto|scroll/.test(getComputedStyle(box).overflowY)) return box;
    }
    return null;
  };

  const contents = document.querySelector("#pst-page-toc-nav");
  if (contents) {
    const follow = () => show(scroller(contents), [...contents.querySelectorAll(".nav-link.active")].pop());
    new MutationObserver(follow).observe(contents, { attributeFilter: ["class"], subtree: true });
  }
  const open = document.querySelector("nav.bd-docs-nav a.current");
  if (open) show(scroller(open), open);
});
