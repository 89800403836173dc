/** The raw events as they came over the wire, grouped by change set, the newest on top. */

import { element } from "./dom.js";
import { jsonText } from "./values.js";

// Bounds, for a page that is left open overnight beside a writer that never rests.
const maximumGroups = 60;
const maximumLines = 20;
/** Characters of JSON laid out for one line; an opened line shows the whole. */
const lineLength = 240;

const signs = { insertion: "+", deletion: "−", move: "↕", update: "≈" };

export class EventLog {
  #list;
  #onHeld;
  #waiting = [];
  #paused = false;
  #drawing = 0;

  /**
   * @param {HTMLOListElement} list
   * @param {(groups: number) => void} onHeld told how many groups wait while the log is paused
   */
  constructor(list, onHeld) {
    this.#list = list;
    this.#onHeld = onHeld;
  }

  get paused() { return this.#paused; }
  set paused(paused) {
    this.#paused = paused;
    this.#onHeld(0);
    if (!paused) this.#schedule();
  }

  clear() {
    this.#waiting = [];
    this.#list.replaceChildren();
    this.#onHeld(0);
  }

  add(title, events) {
    const time = new Date().toLocaleTimeString("en-GB");
    const left = Math.max(0, events.length - maximumLines);
    this.#waiting.push({ title, time, events: events.slice(0, maximumLines), left });
    if (this.#waiting.length > maximumGroups) this.#waiting.shift();
    if (this.#paused) this.#onHeld(this.#waiting.length);
    else this.#schedule();
  }

  #schedule() {
    this.#drawing ||= requestAnimationFrame(() => {
      this.#drawing = 0;
      this.#list.prepend(...this.#waiting.splice(0).reverse().map(groupNode));
      while (this.#list.childElementCount > maximumGroups) this.#list.lastElementChild.remove();
    });
  }
}

function groupNode({ title, time, events, left }) {
  const group = element("li", {},
    element("h3", {}, title, element("time", {}, time)), ...events.map(lineNode));
  if (left) group.append(element("p", { className: "left" }, `${left.toLocaleString("en")} more`));
  return group;
}

function lineNode({ event, data }) {
  const shown = shortened(data);
  const line = element("details", { className: `${event} ${data.type ?? ""}` },
    element("summary", {},
      element("span", { className: "sign", ariaHidden: "true" }, signs[data.type] ?? ""),
      element("span", { className: "event" }, event),
      element("code", {}, jsonText(shown).slice(0, lineLength))));
  const whole = () => line.append(element("pre", {}, jsonText(shown, 2)));
  line.addEventListener("toggle", whole, { once: true });
  return line;
}

/** A snapshot without its records: they are the table. */
function shortened(data) {
  if (!data.records) return data;
  return { ...data, records: `… ${data.records.length} records` };
}
