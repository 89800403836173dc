/**
 * A live, ordered, sectioned list of records from a didchange server.
 *
 *     const players = new FetchedRecordsController("v1/queries/players", {parameters: {country: "FR"}})
 *     players.addEventListener("didChange", () => draw(players.sections))
 *
 * A change set makes a new result, which shares with the old one what it did not touch: `===` tells
 * what changed, and what was read from `sections` stays valid.
 *
 * What it does not do: write, page through a window, share one connection between controllers.
 * Integers beyond 2^53 are BigInt from Chrome 114, Firefox 135 and Safari 18.4 on, else rounded.
 *
 * @module
 */

import { applyChangeSet, ChangeSetError } from "./didchange/changeSet.js";
import { keyed, parse, resultOf } from "./didchange/wire.js";

export { applyChangeSet, ChangeSetError } from "./didchange/changeSet.js";
export { keyOf } from "./didchange/wire.js";

/** @import {ChangeEvent, FetchedRecord, IndexPath, Result, State} from "./didchange/types.d.ts" */

const countOf = (result) => result.sections.reduce((sum, { records }) => sum + records.length, 0);

// Milliseconds. The bound doubles with each failure; the delay is drawn evenly from zero up to it, so
// that the clients of a server that comes back do not come back all at once.
const firstDelay = 500;
const longestDelay = 30_000;
/** Failures further apart than this are unrelated. */
const calm = 60_000;

const wireEvents =
  ["snapshot", "willChange", "sectionChange", "change", "didChange", "fetchError"];

/**
 * One live query. Opens its stream at once and keeps it until `close()`.
 *
 * Events, each with the JSON of the wire as `detail`:
 * - `snapshot`: the result is here, or was replaced as a whole;
 * - `willChange`, `sectionChange`…, `change`…, `didChange`: a change set, when all of it has arrived.
 *   At `willChange` the properties still show the old result, from then on the new one;
 * - `fetchError`: the query failed (the result stays), or was refused for good (`closed`);
 * - `state`: `detail` is the new state. `stale` means that there is a result but no connection.
 */
export class FetchedRecordsController extends EventTarget {
  #url;
  #source = null;
  /** @type {Result} */
  #result = { sections: [] };
  #numberOfRecords = 0;
  /** The flat list, made when it is first asked for. */
  #flat = null;
  /** What a stream may resume from; null: only a snapshot will do. */
  #version = null;
  #hasResult = false;
  /** The change set on its way. @type {?{willChange: object, events: ChangeEvent[]}} */
  #arriving = null;
  /** @type {State} */
  #state = "connecting";
  #failures = 0;
  #lastFailure = 0;
  #timer;
  #probe = new AbortController();

  /**
   * @param {string | URL} url the address of a query: `v1/queries/players`
   * @param {{parameters?: Object<string, string | number | bigint>}} [options]
   */
  constructor(url, { parameters = {} } = {}) {
    super();
    this.#url = new URL(url, globalThis.document?.baseURI ?? globalThis.location?.href);
    this.#url.pathname += "/events";
    for (const [name, value] of Object.entries(parameters)) {
      this.#url.searchParams.set(name, String(value));
    }
    this.#open();
  }

  get url() { return this.#url.href; }
  get state() { return this.#state; }
  get sections() { return this.#result.sections; }
  get numberOfRecords() { return this.#numberOfRecords; }
  /** All records in order: O(n) after a change, then O(1). */
  get fetchedRecords() {
    return this.#flat ??= this.sections.flatMap(({ records }) => records);
  }

  /** @param {IndexPath} indexPath @returns {FetchedRecord | undefined} */
  recordAt([section, item]) {
    return this.sections[section]?.records[item];
  }

  /** Ends the stream; the last result stays readable. */
  close() {
    clearTimeout(this.#timer);
    this.#probe.abort();
    this.#source?.close();
    this.#source = null;
    this.#arriving = null;
    this.#become("closed");
  }

  #open() {
    const source = new EventSource(this.#address({ lastEventId: this.#version }));
    this.#source = source;
    // A stream that resumes and has nothing to catch up with begins without an event.
    source.onopen = () => this.#version !== null && this.#become("live");
    source.onerror = () => source === this.#source && this.#interrupted(source);
    for (const name of wireEvents) {
      source.addEventListener(name, ({ data }) =>
        source === this.#source && this.#receive(name, parse(data)));
    }
  }

  #address(more) {
    const address = new URL(this.#url);
    for (const [name, value] of Object.entries(more)) {
      if (value !== null) address.searchParams.set(name, value);
    }
    return address.href;
  }

  #receive(event, data) {
    switch (event) {
      case "snapshot": return this.#restart(data);
      case "willChange": return this.#begin(data);
      case "didChange": return this.#finish(data);
      case "fetchError": return this.#emit("fetchError", data);
      default:
        keyed(data);
        this.#arriving?.events.push({ event, data });
    }
  }

  #restart(snapshot) {
    this.#arriving = null;
    this.#hasResult = true;
    this.#adopt(resultOf(snapshot), snapshot);
    this.#become("live");
    this.#emit("snapshot", snapshot);
  }

  #begin(willChange) {
    if (willChange.from !== this.#version) return this.#startOver();
    this.#arriving = { willChange, events: [] };
  }

  #finish(didChange) {
    const { willChange, events } = this.#arriving ?? {};
    this.#arriving = null;
    if (willChange?.version !== didChange.version) return this.#startOver();
    const result = this.#applied(events, didChange.numberOfRecords);
    if (!result) return this.#startOver();
    this.#emit("willChange", willChange);
    this.#adopt(result, didChange);
    for (const { event, data } of events) this.#emit(event, data);
    this.#emit("didChange", didChange);
  }

  /** The next result, or null if the change set and the server's count do not fit this one. */
  #applied(events, numberOfRecords) {
    try {
      const result = applyChangeSet(this.#result, events);
      return countOf(result) === numberOfRecords ? result : null;
    } catch (error) {
      if (error instanceof ChangeSetError) return null;
      throw error;
    }
  }

  #adopt(result, { version, numberOfRecords }) {
    this.#result = result;
    this.#numberOfRecords = numberOfRecords;
    this.#flat = null;
    this.#version = version;
  }

  /** The stream broke: half a change set is void, the server resumes before it. */
  #interrupted(source) {
    this.#arriving = null;
    this.#become(this.#hasResult ? "stale" : "connecting");
    // EventSource comes back by itself and sends Last-Event-ID, unless the answer was no stream:
    // then it gives up and does not say why (HTML standard §9.2.3, “fail the connection”).
    if (source.readyState === EventSource.CLOSED) this.#later(() => this.#ask());
  }

  /** The versions do not chain: only a snapshot can mend that. */
  #startOver() {
    this.#source.close();
    this.#arriving = null;
    this.#version = null;
    this.#become(this.#hasResult ? "stale" : "connecting");
    this.#later(() => this.#open());
  }

  #later(action, atLeast = 0) {
    const now = Date.now();
    if (now - this.#lastFailure > calm) this.#failures = 0;
    this.#lastFailure = now;
    const longest = Math.min(longestDelay, firstDelay * 2 ** this.#failures++);
    this.#timer = setTimeout(action, atLeast + Math.random() * longest);
  }

  /** Finds out what EventSource does not tell: whether to come back (5xx) or not (204, 4xx). */
  async #ask() {
    const { signal } = (this.#probe = new AbortController());
    try {
      const address = this.#address({ snapshot: "false" });
      const response = await fetch(address, { signal, cache: "no-store" });
      if (signal.aborted) return;
      if (response.status === 204) this.close();
      else if (response.ok) this.#open();
      else if (isFinal(response.status)) this.#refused(await problemOf(response));
      else this.#later(() => this.#ask(), 1000 * (Number(response.headers.get("Retry-After")) || 0));
    } catch {
      if (!signal.aborted) this.#later(() => this.#ask());
    } finally {
      this.#probe.abort();
    }
  }

  #refused(problem) {
    if (this.#state === "closed") return;
    this.close();
    this.#emit("fetchError", problem);
  }

  #become(state) {
    if (state === this.#state) return;
    this.#state = state;
    this.#emit("state", state);
  }

  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

/** A request that the server will refuse again; but not “too slow” and “too many”. */
const isFinal = (status) => status >= 400 && status < 500 && status !== 408 && status !== 429;

/** The RFC 9457 problem of an answer; a proxy's may have none. */
async function problemOf(response) {
  const { status, statusText: title } = response;
  return response.json().catch(() => ({ status, title, detail: "" }));
}
