// Left and right lead to the previous and the next page, unless the key means something where the focus is.
"use strict";
(() => {
  const TYPED_IN = "input, textarea, select, audio, video, [contenteditable]:not([contenteditable=false])";
  const USES_ARROWS = "[role=slider], [role=tab], [role=radio], [role=listbox], [role=menu], [role=tree], [role=grid]";

  // A box that scrolls sideways needs the arrows to do so.
  const scrolls = (element) => {
    for (let box = element; box && box !== document.body && box !== document.documentElement; box = box.parentElement) {
      if (box.scrollWidth > box.clientWidth && /auto|scroll/.test(getComputedStyle(box).overflowX)) return true;
    }
    return false;
  };

  const taken = (event) =>
    event.defaultPrevented || event.isComposing || event.repeat ||
    event.altKey || event.ctrlKey || event.metaKey || event.shiftKey ||
    event.target.closest?.(`${TYPED_IN}, ${USES_ARROWS}`) ||
    document.querySelector("dialog[open]") || scrolls(event.target);

  const LEADS = { ArrowLeft: ["prev", "←"], ArrowRight: ["next", "→"] };
  // At the window, so that whatever else wants the key has had it by then.
  addEventListener("keydown", (event) => {
    const [to] = LEADS[event.key] ?? [];
    const link = to && document.querySelector(`link[rel="${to}"]`);
    if (!link || taken(event)) return;
    event.preventDefault();
    location.assign(link.href);
  });
  document.addEventListener("DOMContentLoaded", () => {
    for (const [key, [to, sign]] of Object.entries(LEADS)) {
      const link = document.querySelector(`.prev-next-area .${to === "prev" ? "left" : "right"}-${to}`);
      link?.setAttribute("aria-keyshortcuts", key);
      if (link) link.title += ` (${sign})`;
    }
  });
})();

// The theme lets the keyboard into boxes that scroll, when the window gets another size: a fold that opens shows more of them.
(() => {
  "use strict";
  let waits = false;
  document.addEventListener("toggle", () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      dispatchEvent(new Event("resize"));
    });
  }, true);
})();
