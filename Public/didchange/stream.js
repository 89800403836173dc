/** An event stream of several queries (protocol, §4), kept open whatever happens. */

import { parse } from "./wire.js";

// Milliseconds. A delay is drawn below a bound that doubles with each failure: not all come back at once.
// Failures further apart than `calm` are unrelated.
const [firstDelay, longestDelay, calm] = [500, 30_000, 60_000];

const events = ["snapshot", "willChange", "sectionChange", "change", "didChange", "commit", "fetchError"];

/** Tells `heard` what comes; `clashed`: these topics cannot be on one stream. */
export class Stream {
  #base;
  #heard;
  #source;
  /** What the whole stream may resume from; null: only snapshots will do. */
  #id = null;
  /** The change set on its way, and those that wait for their commit. */
  #arriving = null;
  #unit = [];
  #failures = 0;
  #lastFailure = 0;
  #timer;

  constructor(base, topics, heard) {
    this.topics = topics;
    this.#base = base;
    this.#heard = heard;
    this.#open();
  }

  close() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  /** What has arrived does not fit: only snapshots can mend that. */
  startOver() {
    this.#id = null;
    this.#source.close();
    this.#interrupted();
    this.#later(() => this.#open());
  }

  #address(topics, more = "") {
    const queries = topics.map(({ query, given, head: { version } }) => {
      const items = new URLSearchParams(given);
      if (version) items.set("lastEventId", version);
      return `query=${encodeURIComponent(query + (String(items) && `?${items}`))}`;
    });
    return `${this.#base}events?${queries.join("&")}${more}`;
  }

  #open() {
    const resume = this.#id === null ? "" : `&lastEventId=${encodeURIComponent(this.#id)}`;
    const source = this.#source = new EventSource(this.#address(this.topics, resume));
    const ifMine = (action) => (event) => source === this.#source && action(event);
    // What has nothing to catch up with begins without an event.
    source.onopen = ifMine(() => this.#heard.resumed());
    source.onerror = ifMine(() => {
      this.#interrupted();
      // EventSource comes back by itself, unless the answer was no stream: then it gives up
      // (HTML standard §9.2.3, “fail the connection”).
      if (source.readyState === EventSource.CLOSED) this.#later(() => this.#ask());
    });
    for (const name of events) {
      source.addEventListener(name, ifMine((event) => this.#receive(name, event)));
    }
  }

  #receive(event, { data: text, lastEventId }) {
    const data = parse(text);
    const topic = "query" in data ? this.#topicOf(data) : null;
    if (topic === undefined) return;
    switch (event) {
      case "snapshot":
        this.#arriving = null;
        if (lastEventId) this.#id = lastEventId;
        return this.#heard.snapshot(topic, data);
      case "willChange":
        return (this.#arriving = { willChange: data, events: [] });
      case "didChange":
        this.#unit.push([topic, { events: [], ...this.#arriving, didChange: data }]);
        return (this.#arriving = null);
      case "commit":
        this.#id = lastEventId;
        return this.#heard.commit(this.#unit.splice(0));
      case "fetchError": return this.#heard.failed(topic, data);
      default: this.#arriving?.events.push({ event, data });
    }
  }

  /** By name, parameters and window, as far as they are given: the server fills in defaults. */
  #topicOf({ query, parameters, window }) {
    const named = this.topics.filter((topic) => topic.query === query);
    if (named.length < 2) return named[0];
    const echo = { ...parameters, ...window };
    const fitting = named.filter(({ given }) => [...given].every(([name, text]) =>
      name === "access_token" || (echo[name]?.base64 ?? echo[name]) == text));
    // It gives all that the others give, and more.
    const [topic, another] = fitting.filter(({ given }) =>
      fitting.every((other) => [...other.given.keys()].every((name) => given.has(name))));
    if (topic && !another) return topic;
    this.close();
    this.#heard.clashed(named);
  }

  /** Half a commit is void: the server resumes before it. */
  #interrupted() {
    this.#arriving = null;
    this.#unit = [];
    this.#heard.interrupted();
  }

  #later(action, atLeast = 0) {
    const now = Date.now();
    if (now - this.#lastFailure > calm) this.#failures = 0;
    this.#lastFailure = now;
    const longest = Math.min(longestDelay, firstDelay * 2 ** this.#failures++);
    this.#timer = setTimeout(action, atLeast + Math.random() * longest);
  }

  /** Whether to come back (5xx) or not (204, 4xx), which EventSource does not tell. */
  async #ask() {
    const { topics } = this;
    const answer = await this.#answer(topics);
    const { isGood, isFinal, wait } = answer;
    // One bad topic spoils the stream for all: each is asked for alone.
    const answers = !isFinal ? [] : topics.length === 1 ? [answer]
      : await Promise.all(topics.map((topic) => this.#answer([topic])));
    if (!this.#source) return;
    if (isGood) return this.#open();
    answers.forEach((answer, index) =>
      answer.isFinal && this.#heard.refused(topics[index], answer.problem));
    if (answers.length && answers.every((answer) => answer.isGood)) this.#heard.clashed(topics);
    else if (!answers.some((answer) => answer.isFinal)) this.#later(() => this.#ask(), wait);
  }

  async #answer(topics) {
    const probe = new AbortController();
    try {
      const response = await fetch(this.#address(topics, "&snapshot=false"),
        { signal: probe.signal, cache: "no-store" });
      const { status, statusText: title, headers } = response;
      // Not “too slow” and “too many”.
      const isFinal = status === 204 || (status >= 400 && status < 500 && ![408, 429].includes(status));
      const problem = status < 400 ? null
        : await response.json().catch(() => ({ status, title, detail: "" }));
      const wait = 1000 * (Number(headers.get("Retry-After")) || 0);
      return { isGood: status < 400 && !isFinal, isFinal, problem, wait };
    } catch {
      return {};
    } finally {
      probe.abort();
    }
  }
}
