/** What a long list needs, and one of many sections. */

import { PlainList, SectionIndex } from "../didchange/sectionIndex.js";
import { VirtualList } from "../didchange/virtualList.js";
import { byId } from "./dom.js";

/** Pixels, as in index.css: a row, and on a phone one line of it, of which there are so many at most. */
const [rowHeight, lineHeight, rim, mostLines] = [34, 22, 14, 8];

export function longList(pane, { controller, query }, options) {
  pane.removeAttribute("tabindex");
  const lines = Math.min(mostLines, query.columns.length);
  const isNarrow = matchMedia("(max-width: 600px)").matches && lines > 3;
  const list = new VirtualList(pane, controller,
    { ...options, rowHeight: isNarrow ? lines * lineHeight + rim : rowHeight });
  // The head is not in what scrolls.
  const { scroller } = list;
  scroller.addEventListener("scroll", () => (options.head.scrollLeft = scroller.scrollLeft), { passive: true });
  return list;
}

/** `long`: the VirtualList, if it is one. */
export const indexOf = (long, { controller }) =>
  new SectionIndex(byId("index"), long ?? new PlainList(byId("records"), controller));
