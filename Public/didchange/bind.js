/** Keeps a list in the document in step with a controller: a node belongs to its record for life. */

import { formatter } from "./formats.js";
import { drawer, flip } from "./motion.js";
import { keyOf, textOf } from "./wire.js";

const tags = { UL: "li", OL: "li", TBODY: "tr" };

/** What `list` holds already goes. The options are BindOptions of didchange.d.ts. */
export function bind(controller, list, { row, section, formats, types, changed, drawn, signal }) {
  const format = formatter({ formats, types });
  const rowOf = (record, node) => row(record, node, (column) => format(record, column));
  /** Record or section → `{key, node}`, in the order of the list. */
  let items = new Map();
  /** Record → its change, and key → `{record, hasMoved}`, since the last drawing. */
  const changes = new Map();
  const named = new Map();
  /** Nodes that are new in this drawing. */
  const added = new Set();

  function draw() {
    const isFirst = items.size === 0;
    if (isFirst) list.replaceChildren();
    flip(list.children, () => {
      added.clear();
      const next = arrange();
      place(next);
      items = next;
      if (isFirst) added.clear();
    }, added);
    for (const [record, change] of changes) if (items.has(record)) changed?.(items.get(record).node, change);
    named.clear();
    changes.clear();
    drawn?.();
  }

  /** What stayed the same keeps its item, what changed has the node of its key: O(n), and O(k) calls for k changes. */
  function arrange() {
    const next = new Map();
    const others = [];
    const want = (subject, make) => {
      next.set(subject, items.get(subject));
      if (!items.has(subject)) others.push([subject, make]);
    };
    for (const one of controller.sections) {
      if (section) want(one, section);
      for (const record of one.records) want(record, rowOf);
    }
    // Several may have one key: they are told apart by their order.
    const left = new Map();
    for (const [subject, { key, node }] of items) {
      if (next.has(subject)) continue;
      if (!left.has(key)) left.set(key, []);
      left.get(key).push(node);
    }
    for (const [subject, make] of others) {
      const key = make === section ? `s${textOf(subject.name)}` : textOf(keyOf(subject));
      next.set(subject, { key, node: nodeOf(left.get(key)?.shift(), subject, make) });
    }
    for (const node of [...left.values()].flat()) node.remove();
    return next;
  }

  /** What stands for it, changed or new. */
  function nodeOf(known, subject, make) {
    const content = make(subject, known);
    let node = known ?? document.createElement(tags[list.tagName] ?? "div");
    if (content instanceof HTMLElement) node = content;
    else node.replaceChildren(content);
    if (node !== known) known?.remove();
    if (!known) added.add(node);
    return node;
  }

  /** Moves as few nodes as the change set did. */
  function place(next) {
    const leaving = new Set();
    for (const { record, hasMoved } of named.values()) if (hasMoved) leaving.add(next.get(record)?.node);
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
    const { type, record, isLocal } = detail;
    if (!isLocal) changes.set(record, detail);
    const key = textOf(detail.key);
    named.set(key, { record, hasMoved: type === "move" || named.get(key)?.hasMoved });
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
