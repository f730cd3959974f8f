// Keep in view, in the contents at the right, the section that is read; and in the sidebar, the page that is open.
// Remember whether the sidebar is hidden, and keep the button *Back to top* off the steppers.
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

  // The theme hides the sidebar by a class, on one page. layout.html sets the attribute before the page is painted.
  const sidebar = document.getElementById("pst-primary-sidebar"), root = document.documentElement;
  if (sidebar) {
    const HIDDEN = "pst-sidebar-hidden";
    sidebar.classList.toggle(HIDDEN, root.dataset.fxSidebar === "hidden");
    new MutationObserver(() => {
      root.dataset.fxSidebar = sidebar.classList.contains(HIDDEN) ? "hidden" : "";
      try { localStorage.setItem("fx-sidebar", root.dataset.fxSidebar); } catch { /* full: then it is forgotten */ }
    }).observe(sidebar, { attributeFilter: ["class"] });
  }

  const toTop = document.getElementById("pst-back-to-top");
  if (toTop) {
    const below = new Set();
    const watch = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) below[isIntersecting ? "add" : "delete"](target);
      toTop.classList.toggle("fx-covers", below.size > 0);
    }, { rootMargin: "-88% 0px 0px" });
    document.querySelectorAll(".fx-stepper").forEach((stepper) => watch.observe(stepper));
  }
});
