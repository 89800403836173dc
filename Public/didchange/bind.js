/** Keeps a list in the document in step with a controller: a node belongs to its record for life. */

import { formatter } from "./formats.js";
import { drawer, fadeIn, flip } from "./motion.js";
import { keyOf, textOf } from "./wire.js";

const tags = { UL: "li", OL: "li", TBODY: "tr" };

/** What `list` holds already goes. The options are BindOptions of didchange.d.ts. */
export function bind(controller, list, { row, section, formats, types, changed, drawn, signal }) {
  const format = formatter({ formats, types });
  const rowOf = (record, node) => row(record, node, (column) => format(record, column));
  /** Key → `{node, subject}`, in the order of the list. */
  let items = new Map();
  /** Record → its change, and keys of what left its place, since the last drawing. */
  const changes = new Map();
  const moved = new Set();

  function draw() {
    const isFirst = items.size === 0;
    if (isFirst) list.replaceChildren();
    flip(list.children, () => {
      const next = new Map();
      for (const [key, subject, make] of wanted(controller.sections, section, rowOf)) {
        next.set(key, present(items.get(key), subject, make, isFirst));
      }
      for (const [key, { node }] of items) if (next.get(key)?.node !== node) node.remove();
      place(next);
      items = next;
    });
    for (const { node, subject } of items.values()) {
      if (changes.has(subject)) changed?.(node, changes.get(subject));
    }
    moved.clear();
    changes.clear();
    drawn?.();
  }

  /** The item as it was, or changed, or a new one. */
  function present(item, subject, make, isFirst) {
    if (item?.subject === subject) return item;
    const content = make(subject, item?.node);
    let node = item?.node ?? document.createElement(tags[list.tagName] ?? "div");
    if (content instanceof HTMLElement) node = content;
    else node.replaceChildren(content);
    if (!item && !isFirst) fadeIn(node);
    return { node, subject };
  }

  /** Moves as few nodes as the change set did. */
  function place(next) {
    const leaving = new Set([...moved].map((key) => next.get(key)?.node));
    let spot = list.firstElementChild;
    for (const { node } of next.values()) {
      while (spot && spot !== node && leaving.has(spot)) spot = spot.nextElementSibling;
      if (spot === node) spot = spot.nextElementSibling;
      else put(list, node, spot);
      leaving.delete(node);
    }
  }

  const later = drawer(draw, signal);
  controller.addEventListener("snapshot", later, { signal });
  controller.addEventListener("didChange", later, { signal });
  controller.addEventListener("change", ({ detail }) => {
    if (!detail.isLocal) changes.set(detail.record, detail);
    if (detail.type === "move") moved.add(`r${textOf(detail.key)} 0`);
  }, { signal });
  if (controller.version !== undefined) draw();
}

/** Where the browser can move (Chrome 133, Firefox 144), focus, selection, iframes and videos survive. */
function put(list, node, spot) {
  if (list.moveBefore && node.parentNode === list && list.isConnected) return list.moveBefore(node, spot);
  const { activeElement } = document;
  const hasFocus = node.contains(activeElement);
  list.insertBefore(node, spot);
  if (hasFocus) activeElement.focus({ preventScroll: true });
}

/** `[key, subject, make]` of all that the list should hold, in order. */
function* wanted(sections, section, row) {
  const seen = new Map();
  const unique = (text) => {
    seen.set(text, (seen.get(text) ?? -1) + 1);
    return `${text} ${seen.get(text)}`;
  };
  for (const one of sections) {
    if (section) yield [unique(`s${textOf(one.name)}`), one, section];
    for (const record of one.records) yield [unique(`r${textOf(keyOf(record))}`), record, row];
  }
}
