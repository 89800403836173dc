/** How long a sectioned list is, and where in it everything stands: without its records. */

import { textOf } from "./wire.js";

export class Outline {
  /** `{name, indexTitle, numberOfRecords}`. */
  sections = [];
  numberOfRecords = 0;
  /** Whether sections have a head: a result without sections has one without a name. */
  hasHeads = false;
  height = 0;
  #rowHeight = 0;
  #headHeight = 0;
  /** Offset of the first record of each section, and of the end. */
  #offsets = [0];
  #tag = "";
  #asking = Promise.resolve();

  /** O(s). @param tag what names them to the server, if it told them */
  setSections(sections, { rowHeight, sectionHeight }, tag = "") {
    this.sections = sections;
    this.hasHeads = sections.some(({ name }) => name !== null) || sections.length > 1;
    this.#rowHeight = rowHeight;
    this.#headHeight = this.hasHeads ? sectionHeight : 0;
    this.#offsets = [0];
    for (const { numberOfRecords } of sections) {
      this.#offsets.push(this.#offsets.at(-1) + numberOfRecords);
    }
    this.numberOfRecords = this.#offsets.at(-1);
    this.height = this.sectionTop(sections.length);
    this.#tag = tag;
  }

  /**
   * Asks the server, after those who asked before, if it is wanted still.
   * @returns `{sections, tag}` for `setSections`; null where nothing is new, or nothing is known
   */
  fetch(controller, signal, isWanted) {
    return this.#asking = this.#asking
      .then(() => isWanted() ? this.#fetch(controller, signal) : null).catch(() => null);
  }

  async #fetch(controller, signal) {
    const response = await controller.fetch(controller.address("sections"), { signal, cache: "no-store",
      headers: this.#tag ? { "If-None-Match": this.#tag } : {} });
    if (response.status !== 200) return null;
    const { sections } = await response.json();
    return { sections, tag: response.headers.get("ETag") ?? "" };
  }

  /** Where a section's head stands; that of the section after the last is the end. O(1). */
  sectionTop(index) {
    return index * this.#headHeight + this.#offsets[index] * this.#rowHeight;
  }

  /** The section at a height: O(log s). */
  sectionAt(y) {
    return this.#lastSection((index) => this.sectionTop(index) <= y);
  }

  /** O(log s). */
  recordTop(offset) {
    const section = this.#lastSection((index) => this.#offsets[index] <= offset);
    return (section + 1) * this.#headHeight + offset * this.#rowHeight;
  }

  /** The record at a height, or the first one below. O(log s). */
  offsetAt(y) {
    const section = this.sectionAt(y);
    const item = Math.floor((y - this.sectionTop(section) - this.#headHeight) / this.#rowHeight);
    const offset = this.#offsets[section] + Math.max(0, item);
    return Math.min(offset, this.#offsets[section + 1] ?? 0);
  }

  /** `[section, offset, count]` of the records between two heights, in order. */
  *parts(top, bottom) {
    for (let index = this.sectionAt(Math.max(0, top)); index < this.sections.length; index++) {
      const first = this.sectionTop(index) + this.#headHeight;
      if (index > 0 && this.sectionTop(index) >= bottom) return;
      const count = this.sections[index].numberOfRecords;
      const item = (y) => Math.min(Math.max(0, y), count);
      const from = item(Math.floor((top - first) / this.#rowHeight));
      const to = item(Math.ceil((bottom - first) / this.#rowHeight));
      yield [index, this.#offsets[index] + from, to - from];
    }
  }

  /** The last section for which that holds, if it holds for those before; at least the first. */
  #lastSection(holds) {
    let [low, high] = [0, Math.max(0, this.sections.length - 1)];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (holds(middle)) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Whether a window from an offset on, by its own sections, is as the sections of the whole have it. O(s) */
export function fits(sections, offset, window) {
  const parts = window.filter(({ records }) => records.length > 0);
  const end = offset + parts.reduce((sum, { records }) => sum + records.length, 0);
  let [first, index] = [0, 0];
  for (const { name, numberOfRecords } of sections) {
    const count = Math.min(end, first + numberOfRecords) - Math.max(offset, first);
    first += numberOfRecords;
    if (count <= 0) continue;
    const part = parts[index++];
    if (part?.records.length !== count || textOf(part.name) !== textOf(name)) return false;
  }
  return index === parts.length;
}
