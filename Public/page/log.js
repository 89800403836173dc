/** The events of the wire by change set, the newest on top. */

import { drawer } from "../didchange/motion.js";
import { element } from "./dom.js";
import { jsonText } from "./values.js";

// For a page that is left open overnight.
const [maximumGroups, maximumLines, lineLength] = [60, 20, 240];

const signs = { insertion: "+", deletion: "−", move: "↕", update: "≈" };

export class EventLog {
  #list;
  #onHeld;
  #waiting = [];
  #isPaused = false;

  /** `onHeld` is told how many groups wait. */
  constructor(list, onHeld) {
    this.#list = list;
    this.#onHeld = onHeld;
  }

  set isPaused(isPaused) {
    this.#isPaused = isPaused;
    this.#onHeld(0);
    this.#draw();
  }

  clear() {
    this.#waiting = [];
    this.#list.replaceChildren();
    this.#onHeld(0);
  }

  /** `kind` is a class of the group: `opening`, if nothing has happened. */
  add(title, events, kind = "") {
    const left = Math.max(0, events.length - maximumLines);
    const time = new Date().toLocaleTimeString("en-GB");
    this.#waiting.push({ title, time, kind, events: events.slice(0, maximumLines), left });
    if (this.#waiting.length > maximumGroups) this.#waiting.shift();
    if (this.#isPaused) this.#onHeld(this.#waiting.length);
    else this.#draw();
  }

  #draw = drawer(() => {
    if (this.#isPaused) return;
    this.#list.prepend(...this.#waiting.splice(0).reverse().map(groupNode));
    while (this.#list.childElementCount > maximumGroups) this.#list.lastElementChild.remove();
  });
}

function groupNode({ title, time, kind, events, left }) {
  const group = element("li", { className: kind },
    element("h3", {}, title, element("time", {}, time)), ...events.map(lineNode));
  if (left) group.append(element("p", { className: "left" }, `${left.toLocaleString("en")} more`));
  return group;
}

/** Without records, and what is the same in all. */
function lineNode({ event, data: { query, parameters, window, records, ...shown } }) {
  if (records) shown.records = `… ${records.length} records`;
  const line = element("details", { className: `${event} ${shown.type ?? ""}` },
    element("summary", {},
      element("span", { className: "sign", ariaHidden: "true" }, signs[shown.type] ?? ""), event,
      element("code", {}, jsonText(shown).slice(0, lineLength))));
  line.addEventListener("toggle", () => line.append(element("pre", {}, jsonText(shown, 2))), { once: true });
  return line;
}
