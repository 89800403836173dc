/** What a long list needs, and one of many sections. */

import { PlainList, SectionIndex } from "../didchange/sectionIndex.js";
import { VirtualList } from "../didchange/virtualList.js";
import { byId } from "./dom.js";

export function longList(pane, { controller, query }, options) {
  pane.removeAttribute("tabindex");
  const isNarrow = matchMedia("(max-width: 759px)").matches && query.columns.length > 3;
  return new VirtualList(pane, controller, { ...options, rowHeight: isNarrow ? 56 : 34 });
}

/** `long`: the VirtualList, if it is one. */
export const indexOf = (long, { controller }) =>
  new SectionIndex(byId("index"), long ?? new PlainList(byId("records"), controller));
