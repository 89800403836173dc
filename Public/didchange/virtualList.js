/**
 * A list of any length: in the document are the rows in sight, in memory a live window around them,
 * which follows while it is scrolled. What two windows have in common is not sent again.
 *
 * Rows have one height, and so each place in the list is known without drawing what is above it.
 */

import { Course, longMove } from "./course.js";
import { drawer, fadeIn, isStill, slide } from "./motion.js";
import { fits, Outline } from "./outline.js";
import { keyOf, textOf } from "./wire.js";

/** Records of the first window, before it is known how many are in sight. */
const firstWindow = 100;
/** Pixels drawn beyond what is in sight. */
const margin = 300;
/** Pixels: a browser makes no element higher than some 17 million (Firefox) or 33 million. */
const maximumHeight = 8_000_000;
/** Places are counted from a multiple of this: a transform has 24 bits. */
const baseStep = 100_000;
/** Milliseconds without a scroll event: it has come to rest. */
const restTime = 120;
/** Milliseconds for which what is known of the whole list waits for the records of the same commit. */
const patience = 100;

export class VirtualList {
  #options;
  #outline = new Outline();
  /** Offset of the first loaded record, and the records. */
  #loaded = { offset: 0, records: [] };
  #course = new Course();
  /** The address and the commit of which it is known how long the sections are. */
  #measured;
  /** What will be loaded when it is known how long the list is. */
  #newest = null;
  /** What stands in the document: key → `{node, y, subject}`. */
  #items = new Map();
  /** Where the view's top is in the list, in pixels; scrollTop is that or, in a long list, less. */
  #top = 0;
  #scrollTop = 0;
  #base = 0;
  /** How far the list has moved beneath the view since it was drawn, in pixels. */
  #shift = 0;
  #changes = new Map();
  /** The keys of records that have moved since the reading place was kept. */
  #moved = new Set();
  #rest;
  #isAnimated = false;
  #ending = new AbortController();
  #later = drawer(() => this.#draw(), this.#ending.signal);

  /**
   * @param {HTMLElement} element must have a height of its own
   * @param {FetchedRecordsController} controller its window is moved
   * @param {VirtualListOptions} options see didchange.d.ts
   */
  constructor(element, controller, options) {
    this.#options = { rowHeight: 36, sectionHeight: 36, label: "Records", ...options };
    this.controller = controller;
    this.layer = div({ position: "absolute", top: 0, left: 0, right: 0 });
    this.sizer = div({ position: "relative", overflow: "clip" }, this.layer);
    this.scroller = div({ overflow: "auto", overflowAnchor: "none", height: "100%" }, this.sizer);
    // The head of the section at the top; drawn apart, so that it does not tremble.
    this.pinned = div({ position: "absolute", top: 0, left: 0, height: `${this.#options.sectionHeight}px` });
    Object.assign(this.pinned, { className: "section", ariaHidden: "true" });
    const body = div({ position: "relative", overflow: "hidden", flex: 1, minHeight: 0 },
      this.scroller, this.pinned);
    body.role = this.sizer.role = this.layer.role = "presentation";
    Object.assign(this.scroller, { role: "rowgroup", tabIndex: 0, ariaLabel: this.#options.label });
    Object.assign(element, { role: "table", ariaLabel: this.#options.label });
    Object.assign(element.style, { display: "flex", flexDirection: "column" });
    this.element = element;
    element.replaceChildren(...this.#options.head ? [this.#options.head] : [], body);
    this.#listen(element);
    if (controller.version === undefined) controller.window ??= { offset: 0, limit: firstWindow };
    else this.#arrived(controller);
  }

  get sections() { return this.#outline.sections; }
  get numberOfRecords() { return this.#outline.numberOfRecords; }
  /** The index of the section at the top. */
  get currentSection() { return this.#outline.sectionAt(this.#top); }

  /** Brings a section's beginning to the top. */
  showSection(index) { this.#goTo(this.#outline.sectionTop(index)); }

  /** Brings the record at an offset to the top. */
  showOffset(offset) { this.#goTo(this.#outline.recordTop(offset) - this.#options.sectionHeight); }

  /** Ends it; the controller lives on. */
  close() {
    this.#ending.abort();
    clearTimeout(this.#rest);
  }

  #listen(element) {
    const { signal } = this.#ending;
    this.scroller.addEventListener("scroll", () => this.#scrolled(), { signal, passive: true });
    const { controller } = this;
    controller.addEventListener("snapshot", ({ detail }) => this.#arrived(detail, true), { signal });
    controller.addEventListener("didChange", ({ detail }) => this.#arrived(detail), { signal });
    controller.addEventListener("change", ({ detail }) => {
      this.#changes.set(detail.record, detail);
      if (detail.type === "move") this.#moved.add(textOf(keyOf(detail.record)));
    }, { signal });
    // Changes elsewhere do not reach the window, but they change how long the list is.
    const asking = setInterval(() =>
      !document.hidden && this.#isPart && controller.state === "live" && this.#lookElsewhere(), 2000);
    const resizing = new ResizeObserver(() => this.#later());
    resizing.observe(element);
    signal.addEventListener("abort", () => {
      clearInterval(asking);
      resizing.disconnect();
    });
  }

  /** Whether the window is less than the result. */
  get #isPart() {
    return this.controller.totalNumberOfRecords > this.#loaded.records.length;
  }

  async #arrived({ window }, isSnapshot = false) {
    const { controller } = this;
    const loaded = { offset: window?.offset ?? 0, limit: window?.limit, records: controller.fetchedRecords };
    this.#newest = loaded;
    const isNewest = () => this.#newest === loaded && !this.#ending.signal.aborted;
    if (controller.totalNumberOfRecords > loaded.records.length) {
      if (this.#state !== this.#measured) await this.#measure(isNewest);
    } else {
      this.#outline.setSections(controller.sections.map(({ name, indexTitle, records }) =>
        ({ name, indexTitle, numberOfRecords: records.length })), this.#options);
      this.#measured = this.#state;
    }
    if (!isNewest()) return;
    const isMove = !isSame(loaded, this.#loaded);
    this.#isAnimated ||= !isMove;
    // What came into the window has not come into the list.
    if (isMove) this.#changes.clear();
    const [read, before] = [this.#recordsInSight(), this.#loaded.records];
    this.#loaded = loaded;
    this.#keepPlace(read, before);
    this.#moved.clear();
    this.#clampTop();
    this.#later();
    if (isSame(loaded, controller.window ?? {})) this.#course.arrived(isSnapshot, performance.now());
    this.#follow();
  }

  /** `{key, y}` of the records in sight, from the top on; none at the very top, where what is new shows, or without a key. */
  #recordsInSight() {
    if (this.#top === 0) return [];
    const bottom = this.#top + this.scroller.clientHeight;
    return [...this.#items.values()].map(({ record, y }) => ({ record, y: y + this.#shift }))
      .filter(({ record, y }) => record && keyOf(record) && y >= this.#top && y < bottom)
      .map(({ record, y }) => ({ key: textOf(keyOf(record)), y }));
  }

  /** Keeps the reading place while records come and go above it, by the first one that is there still and has not moved. */
  #keepPlace(read, before = this.#loaded.records) {
    if (read.length === 0) return;
    const { offset, records } = this.#loaded;
    const keys = records.map((record) => textOf(keyOf(record)));
    // Of several with one key, the first.
    const indexes = new Map(keys.map((key, index) => [key, index]).reverse());
    const kept = read.findIndex(({ key }) => indexes.has(key) && !this.#moved.has(key));
    if (kept < 0) return;
    const index = indexes.get(read[kept].key);
    // It comes up where one before it is gone, unless all that was above has only left the window.
    const gone = read.slice(0, kept).find(({ key }) => !(indexes.get(key) < index));
    const { y } = gone && this.#goesOnAbove(read[0].key, before, keys.slice(0, index)) ? gone : read[kept];
    const by = this.#outline.recordTop(offset + index) - y;
    this.#shift += by;
    this.#top += by;
    this.#clampTop();
    this.sizer.style.height = `${this.#height}px`;
    this.#setScrollTop();
  }

  /** Whether the window goes on above a record: one of those keys was above it before, or there is nothing else. */
  #goesOnAbove(key, before, keys) {
    if (this.#loaded.offset === 0) return true;
    const above = before.map((record) => textOf(keyOf(record)));
    const known = new Set(above.slice(0, above.indexOf(key)));
    return keys.some((key) => known.has(key));
  }

  /**
   * Asks how long the sections are, for records that have arrived.
   *
   * What is told of a later commit than theirs waits a little for its records.
   */
  async #measure(isNewest) {
    const state = this.#state;
    const { sections, tag } = await this.#outline.fetch(this.controller, this.#ending.signal, isNewest) ?? {};
    if (sections && isNewest() && !this.#fits(sections)) await pause(patience);
    if (!sections || !isNewest()) return;
    this.#outline.setSections(sections, this.#options, tag);
    this.#measured = state;
  }

  /** Asks how long the sections are, where nothing has arrived. */
  async #lookElsewhere() {
    const { signal } = this.#ending;
    const isSettled = () => this.#newest === this.#loaded && !signal.aborted;
    const { sections, tag } = await this.#outline.fetch(this.controller, signal, isSettled) ?? {};
    // Else records are on their way, and ask themselves.
    if (!sections || !isSettled() || !this.#fits(sections)) return;
    const read = this.#recordsInSight();
    this.#outline.setSections(sections, this.#options, tag);
    this.#keepPlace(read);
    this.#later();
    this.#follow();
  }

  #fits(sections) { return fits(sections, this.#newest.offset, this.controller.sections); }

  /** What the sections may depend on. */
  get #state() { return `${this.controller.commit} ${this.controller.address("sections")}`; }

  // Scrolling

  #scrolled() {
    const { scrollTop, clientHeight } = this.scroller;
    const ratio = this.#ratio;
    const by = scrollTop - this.#scrollTop;
    const isEdge = scrollTop <= 0 || scrollTop >= this.#height - clientHeight - 1;
    // A wheel or a finger moves the rows as far; a scroll bar, by half a pixel of its own or more, is
    // for the whole list.
    if (ratio > 1 && Math.abs(by) < this.#height / clientHeight / 2 && !isEdge) this.#top += by;
    else this.#top = scrollTop * ratio;
    this.#scrollTop = scrollTop;
    const { rowHeight } = this.#options;
    this.#course.scrolled(by / rowHeight, clientHeight / rowHeight, performance.now());
    this.#isAnimated = false;
    this.#later();
    this.#follow();
    this.#waitForRest();
  }

  #waitForRest(time = restTime) {
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => this.#rested(), time);
  }

  #rested() {
    this.#setScrollTop();
    this.#course.rested(performance.now());
    this.#follow();
    if (this.#course.isMoving) this.#waitForRest(longMove);
  }

  #follow() {
    const window = this.#course.next(this.#visible(), this.numberOfRecords, this.controller.window ?? {}, performance.now());
    if (window) this.controller.window = window;
  }

  #goTo(y) {
    this.#top = y;
    this.#isAnimated = false;
    this.#clampTop();
    this.#setScrollTop();
    this.#draw();
    this.#follow();
    this.#waitForRest();
  }

  #clampTop() {
    const end = Math.max(0, this.#outline.height - this.scroller.clientHeight);
    this.#top = Math.min(Math.max(0, this.#top), end);
  }

  #setScrollTop() {
    const scrollTop = this.#top / this.#ratio;
    if (Math.abs(scrollTop - this.#scrollTop) < 1) return;
    this.scroller.scrollTop = scrollTop;
    this.#scrollTop = this.scroller.scrollTop;
    this.#placeLayer();
  }

  get #height() { return Math.min(this.#outline.height, maximumHeight); }
  get #ratio() {
    const { clientHeight } = this.scroller;
    const room = this.#height - clientHeight;
    return room > 0 ? (this.#outline.height - clientHeight) / room : 1;
  }

  #visible() {
    return [this.#top, this.#top + this.scroller.clientHeight]
      .map((y) => this.#outline.offsetAt(y));
  }

  // Drawing

  #draw() {
    this.sizer.style.height = `${this.#height}px`;
    this.#clampTop();
    const base = Math.floor(this.#top / baseStep) * baseStep;
    const isRebased = base !== this.#base;
    this.#base = base;
    this.#placeLayer();
    const animates = this.#isAnimated && !isRebased && !isStill();
    const next = new Map();
    for (const [key, y, subject, make, about] of this.#wanted()) {
      next.set(key, this.#item(this.#items.get(key), y, subject, make, about, animates));
    }
    for (const [key, { node }] of this.#items) if (!next.has(key)) node.remove();
    this.#items = next;
    this.#shift = 0;
    this.#pin();
    this.#changes.clear();
    // Until the next scroll changes move what they move.
    this.#isAnimated = true;
    this.element.ariaRowCount = String(this.numberOfRecords);
    this.#options.drawn?.(this);
  }

  /** The next section's head pushes it out. */
  #pin() {
    const { offsetWidth, clientWidth } = this.scroller;
    // The columns of the head stand above those of the rows, beside which is a scroll bar.
    if (this.#options.head) this.#options.head.style.paddingRight = `${offsetWidth - clientWidth}px`;
    const index = this.currentSection;
    const one = this.#outline.hasHeads ? this.sections[index] : null;
    this.pinned.hidden = !one;
    if (!one) return;
    if (this.pinned.subject !== one) this.#options.section(one, this.pinned);
    this.pinned.subject = one;
    this.pinned.style.width = `${this.scroller.clientWidth}px`;
    const { sectionHeight } = this.#options;
    const push = Math.min(0, this.#outline.sectionTop(index + 1) - this.#top - sectionHeight);
    this.pinned.style.transform = `translateY(${push}px)`;
  }

  #placeLayer() {
    const y = this.#scrollTop - this.#top + this.#base;
    this.layer.style.transform = y === 0 ? "" : `translateY(${y}px)`;
  }

  /** `[key, y, subject, make, rowIndex]` of all in sight, from top to bottom. */
  *#wanted() {
    const { row, section } = this.#options;
    const bottom = this.#top + this.scroller.clientHeight + margin;
    const seen = new Map();
    for (const [index, first, count] of this.#outline.parts(this.#top - margin, bottom)) {
      const one = this.#outline.sections[index];
      if (this.#outline.hasHeads) {
        yield [`s${textOf(one.name)}`, this.#outline.sectionTop(index), one, section];
      }
      for (let offset = first; offset < first + count; offset++) {
        const record = this.#recordAt(offset);
        const key = record && keyOf(record) ? textOf(keyOf(record)) : `?${offset}`;
        const copies = seen.get(key) ?? 0;
        seen.set(key, copies + 1);
        yield [copies ? `${key} ${copies}` : key, this.#outline.recordTop(offset), record, row, offset];
      }
    }
  }

  #recordAt(offset) {
    return this.#loaded.records[offset - this.#loaded.offset];
  }

  #item(item, y, subject, make, offset, animates) {
    const isSection = offset === undefined;
    const node = item?.node ?? this.#nodeOf(isSection);
    if (!item || item.subject !== subject) make(subject, node);
    if (!isSection) node.ariaRowIndex = String(offset + 1);
    if (!item || item.y !== y || item.base !== this.#base) {
      node.style.transform = `translateY(${y - this.#base}px)`;
      const by = item ? item.y + this.#shift - y : 0;
      if (by !== 0 && animates && !isSection) slide(node, by);
    }
    if (!item) this.layer.append(node);
    if (!item && animates) fadeIn(node);
    const change = this.#changes.get(subject);
    if (change) this.#options.changed?.(node, change);
    return { node, y, subject, record: isSection ? null : subject, base: this.#base };
  }

  #nodeOf(isSection) {
    const { rowHeight, sectionHeight } = this.#options;
    const node = div({ position: "absolute", top: 0, left: 0, right: 0, boxSizing: "border-box",
      height: `${isSection ? sectionHeight : rowHeight}px`, zIndex: isSection ? 1 : 0 });
    node.role = "row";
    node.className = isSection ? "section" : "record";
    return node;
  }
}

const pause = (time) => new Promise((done) => setTimeout(done, time));
const isSame = (one, other) => one.offset === other.offset && one.limit === other.limit;

function div(style, ...children) {
  const node = document.createElement("div");
  Object.assign(node.style, style);
  node.append(...children);
  return node;
}
