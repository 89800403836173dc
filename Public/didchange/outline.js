/** How long a sectioned list is, and where in it everything stands: without its records. */

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
  #asking = null;

  /** O(s). */
  setSections(sections, { rowHeight, sectionHeight }) {
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
    this.#tag = "";
  }

  /** Asks the server; who asks meanwhile waits for the same answer. @returns whether it is news */
  fetch(controller, signal, heights) {
    return this.#asking ??= this.#fetch(controller, signal, heights)
      .catch(() => false).finally(() => (this.#asking = null));
  }

  async #fetch(controller, signal, heights) {
    const response = await controller.fetch(controller.address("sections"), { signal, cache: "no-store",
      headers: this.#tag ? { "If-None-Match": this.#tag } : {} });
    if (response.status !== 200) return false;
    const { sections } = await response.json();
    this.setSections(sections, heights);
    this.#tag = response.headers.get("ETag") ?? "";
    return true;
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
