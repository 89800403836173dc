/**
 * A live, ordered, sectioned list of records from a didchange server.
 *
 *     const players = new FetchedRecordsController("v1/queries/players", {parameters: {country: "FR"}})
 *     players.addEventListener("didChange", () => draw(players.sections))
 *     for await (const sections of players) draw(sections)
 *     players.bind(document.querySelector("ul"), {row: ({name}) => name})
 *
 * A change set makes a new result, which shares with the old one what it did not touch: `===` tells
 * what changed, and what was read from `sections` stays valid. All controllers of all tabs share one
 * connection. It does not write. didchange.d.ts has the types.
 *
 * Integers beyond 2^53 are BigInt from Chrome 114, Firefox 135 and Safari 18.4 on, else rounded.
 *
 * @module
 */

import { applyChangeSet } from "./didchange/changeSet.js";
import { subscribe } from "./didchange/link.js";
import { keyed, keyOf, resultOf } from "./didchange/wire.js";

export { applyChangeSet, ChangeSetError } from "./didchange/changeSet.js";
export { keyOf } from "./didchange/wire.js";

/** @import {FetchedRecord, IndexPath, Result, State, Window} from "./didchange.d.ts" */

/**
 * One live query, from now until `close()`.
 *
 * Events, each with the JSON of the wire as `detail`:
 * - `snapshot`: the result is here, or was replaced as a whole;
 * - `willChange`, `sectionChange`…, `change`…, `didChange`: a change set, when all of it has arrived.
 *   At `willChange` the properties still show the old result, from then on the new one;
 * - `error`: the query failed (the result stays), or was refused for good (`closed`);
 * - `state`: `detail` is the new state. `stale` means that there is a result but no connection.
 */
export class FetchedRecordsController extends EventTarget {
  #base;
  #query;
  #window;
  #subscription;
  /** Grows with each subscription: what is told of an earlier one is not heard. */
  #turn = 0;
  /** @type {Result} */
  #result = { sections: [] };
  /** `version`, `commit`, `numberOfRecords`, `totalNumberOfRecords`, `alongside` of the wire. */
  #head = { numberOfRecords: 0 };
  /** Made when first asked for, and forgotten with each change: the flat list, key → index path. */
  #flat = null;
  #paths = null;
  /** @type {State} */
  #state = "connecting";

  /**
   * @param {string | URL} url the address of a query: `v1/queries/players`
   * @param {{parameters?: Object<string, string | number | bigint>, window?: Window}} [options]
   */
  constructor(url, { parameters = {}, window = null } = {}) {
    super();
    const address = new URL(url, globalThis.document?.baseURI ?? globalThis.location?.href);
    const [, base, name] = /^(.*\/)queries\/([^/]+)\/?$/.exec(address.pathname) ?? [];
    if (!name) throw new TypeError(`“${url}” is not the address of a query: …/v1/queries/players`);
    for (const [parameter, value] of Object.entries(parameters)) {
      if (value !== undefined) address.searchParams.set(parameter, String(value));
    }
    this.#base = address.origin + base;
    this.#query = [decodeURIComponent(name), address.searchParams];
    this.#window = window;
    this.#subscribe();
  }

  /** The address of this query's own event stream: for `curl -N`. */
  get url() {
    const [name, parameters] = this.#queryParts();
    return `${this.#base}queries/${encodeURIComponent(name)}/events${parameters && `?${parameters}`}`;
  }
  get state() { return this.#state; }
  get sections() { return this.#result.sections; }
  get numberOfRecords() { return this.#head.numberOfRecords; }
  /** Beyond the window. */
  get totalNumberOfRecords() { return this.#head.totalNumberOfRecords ?? this.numberOfRecords; }
  get version() { return this.#head.version; }
  get commit() { return this.#head.commit; }
  get alongside() { return this.#head.alongside ?? {}; }
  /** All records in order: O(n) after a change, then O(1). */
  get fetchedRecords() {
    return this.#flat ??= this.sections.flatMap(({ records }) => records);
  }

  /** @param {IndexPath} indexPath @returns {FetchedRecord | undefined} */
  recordAt([section, item]) {
    return this.sections[section]?.records[item];
  }

  /**
   * Where the record with that key is: O(n) after a change, then O(1).
   * @param {Value | Value[]} key one value, or a list of all columns of the key
   * @returns {IndexPath | undefined}
   */
  indexPathFor(key) {
    if (!this.#paths) {
      this.#paths = new Map();
      this.sections.forEach(({ records }, section) => records.forEach((record, item) => {
        const text = textOf(keyOf(record));
        if (!this.#paths.has(text)) this.#paths.set(text, [section, item]);
      }));
    }
    return this.#paths.get(textOf(Array.isArray(key) ? key : [key]));
  }

  /** The titles of an A–Z index, each once. */
  get sectionIndexTitles() {
    return [...new Set(this.sections.map(({ indexTitle }) => indexTitle))].filter(Boolean);
  }

  get window() { return this.#window; }
  /** Moves the window; the old one's records stay until the new one's are here. */
  set window(window) {
    this.#window = window;
    if (this.#state === "closed") return;
    this.#subscription.close();
    this.#subscribe();
  }

  /** Keeps a list in the document in step; see didchange/bind.js. @returns {() => void} to stop */
  bind(element, options) {
    const stopping = new AbortController();
    import("./didchange/bind.js").then(({ bind }) => {
      if (!stopping.signal.aborted) bind(this, element, { ...options, signal: stopping.signal });
    });
    return () => stopping.abort();
  }

  /** Ends it; the last result stays readable. */
  close() {
    this.#subscription.close();
    this.#become("closed");
  }

  /** The sections, now and after each change; who is slow gets the latest only. Ends at `close()`. */
  async *[Symbol.asyncIterator]() {
    let wake;
    let isNew = this.version !== undefined;
    const hear = ({ type }) => {
      isNew ||= type !== "state";
      wake?.();
    };
    const names = ["snapshot", "didChange", "state"];
    for (const name of names) this.addEventListener(name, hear);
    try {
      while (isNew || this.#state !== "closed") {
        if (isNew) {
          isNew = false;
          yield this.sections;
        } else await new Promise((resolve) => (wake = resolve));
      }
    } finally {
      for (const name of names) this.removeEventListener(name, hear);
    }
  }

  #queryParts() {
    const [name, parameters] = this.#query;
    const all = new URLSearchParams(parameters);
    for (const [word, value] of Object.entries(this.#window ?? {})) all.set(word, value);
    return [name, all.toString()];
  }

  #subscribe() {
    const [name, parameters] = this.#queryParts();
    const query = parameters ? `${name}?${parameters}` : name;
    const turn = ++this.#turn;
    this.#subscription = subscribe(this.#base, query, (kind, payload) =>
      turn === this.#turn && this.#state !== "closed" && this.#receive(kind, payload));
  }

  #receive(kind, payload) {
    switch (kind) {
      case "snapshot": return this.#restart(payload);
      case "changeSet": return this.#finish(payload);
      case "error": return this.#emit("error", payload);
      // A window that moves connects anew; what is shown is not wrong for that.
      case "state": return payload === "connecting" || this.#become(payload);
    }
  }

  #restart(snapshot) {
    this.#adopt(resultOf(snapshot), snapshot);
    this.#emit("snapshot", snapshot);
  }

  #finish({ willChange, events, didChange }) {
    // Told while a snapshot was on its way here: that has it already.
    if (willChange.from !== this.version) return this.#subscription.again();
    for (const { data } of events) keyed(data);
    const result = applyChangeSet(this.#result, events);
    this.#emit("willChange", willChange);
    this.#adopt(result, didChange);
    for (const { event, data } of events) this.#emit(event, data);
    this.#emit("didChange", didChange);
  }

  #adopt(result, { version, commit, numberOfRecords, totalNumberOfRecords, alongside }) {
    this.#result = result;
    this.#head = { version, commit, numberOfRecords, totalNumberOfRecords, alongside };
    this.#flat = this.#paths = null;
  }

  #become(state) {
    if (state === this.#state) return;
    this.#state = state;
    if (state === "closed") this.#subscription.close();
    this.#emit("state", state);
  }

  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

const textOf = (key) => JSON.stringify(key, (_, value) =>
  typeof value === "bigint" ? String(value) : value);
