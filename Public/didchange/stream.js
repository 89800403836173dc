/** One event stream of several queries (protocol, §4), kept open through whatever happens to it. */

import { parse } from "./wire.js";

// Milliseconds. The bound doubles with each failure; the delay is drawn evenly from zero up to it, so
// that the clients of a server that comes back do not come back all at once.
const firstDelay = 500;
const longestDelay = 30_000;
/** Failures further apart than this are unrelated. */
const calm = 60_000;

const events =
  ["snapshot", "willChange", "sectionChange", "change", "didChange", "commit", "fetchError"];

/**
 * Tells `heard`:
 * - `opened()`, `interrupted()`: the connection came up, or broke;
 * - `snapshot(topic, data)`: a result came whole;
 * - `commit(changeSets)`: `[topic, {willChange, events, didChange}]` of all that one commit changed;
 * - `failed(topic, problem)`: the last change could not be worked out;
 * - `refused(topic, problem)`: the server will never show this one; null: it is no longer there;
 * - `clashed()`: each topic is good, but the server does not take them together.
 */
export class Stream {
  #base;
  #heard;
  #source = null;
  /** What the whole stream may resume from; null: only snapshots will do. */
  #id = null;
  /** How the server calls a topic's events → the topic: learned from the snapshots' order. */
  #names = new Map();
  /** The change set on its way, and those that wait for their commit. */
  #arriving = null;
  #unit = [];
  #failures = 0;
  #lastFailure = 0;
  #timer;
  #probe = new AbortController();

  /** @param {{query: string}[]} topics each a query's name with its parameters as a URL query */
  constructor(base, topics, heard) {
    this.#base = base;
    this.topics = topics;
    this.#heard = heard;
    this.#open();
  }

  close() {
    clearTimeout(this.#timer);
    this.#probe.abort();
    this.#source?.close();
    this.#source = null;
  }

  /** What has arrived does not fit: only snapshots can mend that. */
  startOver() {
    this.#source?.close();
    this.#id = null;
    this.#forget();
    this.#heard.interrupted();
    this.#later(() => this.#open());
  }

  #address(topics, more = "") {
    return `${this.#base}events?${topics.map(({ query }) =>
      `query=${encodeURIComponent(query)}`).join("&")}${more}`;
  }

  #open() {
    const resume = this.#id === null ? "" : `&lastEventId=${encodeURIComponent(this.#id)}`;
    const source = new EventSource(this.#address(this.topics, resume));
    this.#source = source;
    source.onopen = () => source === this.#source && this.#heard.opened(this.#id !== null);
    source.onerror = () => source === this.#source && this.#interrupted(source);
    for (const name of events) {
      source.addEventListener(name, (event) => source === this.#source && this.#receive(name, event));
    }
  }

  #receive(event, { data: text, lastEventId }) {
    const data = parse(text);
    switch (event) {
      case "snapshot":
        this.#arriving = null;
        if (lastEventId) this.#id = lastEventId;
        return this.#heard.snapshot(this.#topicOf(data), data);
      case "willChange":
        this.#arriving = { willChange: data, events: [] };
        return;
      case "didChange":
        this.#unit.push([this.#topicOf(data), { ...this.#arriving, didChange: data }]);
        this.#arriving = null;
        return;
      case "commit":
        this.#id = lastEventId;
        return this.#heard.commit(this.#unit.splice(0));
      case "fetchError": return this.#heard.failed(this.#topicOf(data), data);
      default: this.#arriving?.events.push({ event, data });
    }
  }

  #topicOf({ query, parameters, window }) {
    const name = JSON.stringify([query, parameters, window], (_, value) =>
      typeof value === "bigint" ? String(value) : value);
    let topic = this.#names.get(name);
    if (!topic) this.#names.set(name, topic = this.topics[this.#names.size]);
    return topic;
  }

  /** Half a commit is void: the server resumes before it. */
  #forget() {
    this.#arriving = null;
    this.#unit = [];
  }

  #interrupted(source) {
    this.#forget();
    this.#heard.interrupted();
    // EventSource comes back by itself and sends Last-Event-ID, unless the answer was no stream:
    // then it gives up and does not say why (HTML standard §9.2.3, “fail the connection”).
    if (source.readyState === EventSource.CLOSED) this.#later(() => this.#ask());
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
      const { status, problem, wait } = await this.#answer(this.topics, signal);
      if (!isFinal(status)) status < 400 ? this.#open() : this.#later(() => this.#ask(), wait);
      else if (this.topics.length === 1) this.#heard.refused(this.topics[0], problem);
      else await this.#sift(signal);
    } catch {
      if (!signal.aborted) this.#later(() => this.#ask());
    }
  }

  /** One bad topic spoils the stream for all: each is asked for alone. */
  async #sift(signal) {
    const answers = await Promise.all(this.topics.map((topic) => this.#answer([topic], signal)));
    const bad = answers.map((answer, index) => [this.topics[index], answer])
      .filter(([, { status }]) => isFinal(status));
    for (const [topic, { problem }] of bad) this.#heard.refused(topic, problem);
    if (bad.length > 0) return;
    if (answers.every(({ status }) => status < 400)) this.#heard.clashed();
    else this.#later(() => this.#ask());
  }

  async #answer(topics, signal) {
    const probe = new AbortController();
    const stop = () => probe.abort();
    signal.addEventListener("abort", stop);
    try {
      const address = this.#address(topics, "&snapshot=false");
      const response = await fetch(address, { signal: probe.signal, cache: "no-store" });
      const { status, statusText: title, headers } = response;
      signal.throwIfAborted();
      const problem = status === 204 ? null
        : status < 400 ? undefined
        : await response.json().catch(() => ({ status, title, detail: "" }));
      signal.throwIfAborted();
      return { status, problem, wait: 1000 * (Number(headers.get("Retry-After")) || 0) };
    } finally {
      signal.removeEventListener("abort", stop);
      stop();
    }
  }
}

/** A request that the server will refuse again; but not “too slow” and “too many”. */
const isFinal = (status) =>
  status === 204 || (status >= 400 && status < 500 && status !== 408 && status !== 429);
