/** Keeps a list in the document in step with a controller: a node belongs to its record for life. */

import { fadeIn, flip } from "./motion.js";
import { keyOf } from "./wire.js";

const tags = { UL: "li", OL: "li", DL: "dd", TBODY: "tr", TABLE: "tr" };

/**
 * @param {FetchedRecordsController} controller
 * @param {HTMLElement} list its children become the rows, and what stands above each section
 * @param {BindOptions} options see didchange.d.ts
 */
export function bind(controller, list, { row, section, signal }) {
  /** Key → `{node, subject}`, in the order of the list. */
  let items = new Map();
  /** Keys of the records that left their place in the changes since the last drawing. */
  let moved = new Set();
  let frame = 0;

  function draw() {
    frame = 0;
    const isFirst = items.size === 0;
    flip(list.children, () => {
      const next = new Map();
      for (const [key, subject, make] of wanted(controller.sections, section, row)) {
        next.set(key, present(items.get(key), subject, make, isFirst));
      }
      const staying = new Set(Array.from(next.values(), ({ node }) => node));
      for (const node of [...list.children]) if (!staying.has(node)) node.remove();
      place(next);
      items = next;
      moved.clear();
    });
  }

  /** The item as it was, or changed, or a new one. */
  function present(item, subject, make, isFirst) {
    if (item?.subject === subject) return item;
    const content = make(subject, item?.node);
    let node = item?.node ?? document.createElement(tags[list.tagName] ?? "div");
    if (content instanceof HTMLElement) node = content;
    else if (content instanceof Node) node.replaceChildren(content);
    else node.textContent = content;
    if (!item && !isFirst) fadeIn(node);
    return { node, subject };
  }

  /** Moves as few nodes as the change set did: a node that is moved loses focus and scroll. */
  function place(next) {
    const leaving = new Set([...moved].map((key) => next.get(key)?.node));
    let spot = list.firstElementChild;
    for (const { node } of next.values()) {
      while (spot && spot !== node && leaving.has(spot)) spot = spot.nextElementSibling;
      if (spot === node) spot = spot.nextElementSibling;
      else list.insertBefore(node, spot);
      leaving.delete(node);
    }
  }

  const later = () => (frame ||= requestAnimationFrame(draw));
  controller.addEventListener("snapshot", later, { signal });
  controller.addEventListener("didChange", later, { signal });
  controller.addEventListener("change", ({ detail: { type, key } }) => {
    if (type === "move") moved.add(`r${textOf(key)} 0`);
  }, { signal });
  signal?.addEventListener("abort", () => cancelAnimationFrame(frame));
  if (controller.version !== undefined) draw();
}

/** `[key, subject, make]` of all that the list should hold, in order. */
function* wanted(sections, section, row) {
  const seen = new Map();
  const unique = (text) => {
    const count = seen.get(text) ?? 0;
    seen.set(text, count + 1);
    return `${text} ${count}`;
  };
  for (const one of sections) {
    if (section) yield [unique(`s${textOf(one.name)}`), one, section];
    for (const record of one.records) yield [unique(`r${textOf(keyOf(record))}`), record, row];
  }
}

const textOf = (value) => JSON.stringify(value, (_, part) =>
  typeof part === "bigint" ? String(part) : part);
