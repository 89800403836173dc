/** An event stream of several queries (protocol, §4), kept open whatever happens. */

import { parse } from "./wire.js";

// Milliseconds. A delay is drawn below a bound that doubles with each failure: not all come back at once.
// Failures further apart than `calm` are unrelated.
const [firstDelay, longestDelay, calm] = [500, 30_000, 60_000];

const events = ["snapshot", "willChange", "sectionChange", "change", "didChange", "commit", "fetchError", "recovered"];

/** Tells `heard` what comes; `clashed`: these topics cannot be on one stream. */
export class Stream {
  /** `{base, token, withCredentials}`: where, and who. */
  #asker;
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
  #isClosed = false;

  constructor(asker, topics, heard) {
    this.topics = topics;
    this.#asker = asker;
    this.#heard = heard;
    this.#open();
  }

  close() {
    this.#isClosed = true;
    this.#leave();
  }

  /** What has arrived does not fit: only snapshots can mend that. */
  startOver() {
    this.#id = null;
    this.#leave();
    this.#interrupted();
    this.#later(() => this.#open());
  }

  #leave() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  #address(topics, more = "") {
    const queries = topics.map(({ query, given, head: { version } }) => {
      const items = new URLSearchParams(given);
      if (version) items.set("lastEventId", version);
      return `query=${encodeURIComponent(query + (String(items) && `?${items}`))}`;
    });
    return `${this.#asker.base}events?${queries.join("&")}${more}`;
  }

  #open() {
    if (this.#asker.token) this.#enter();
    else this.#connect("");
  }

  /** EventSource cannot send a token: a ticket goes in its place, which is good once. */
  async #enter() {
    const { status, isGood, isFinal, problem, wait, body } =
      await this.#request(`${this.#asker.base}tickets`, { method: "POST" });
    if (this.#isClosed) return;
    if (isGood && body?.ticket) this.#connect(`&access_token=${encodeURIComponent(body.ticket)}`);
    // There are none where everybody may read.
    else if (status === 404) this.#connect("");
    else if (isFinal) this.#refuse(this.topics, problem);
    else this.#later(() => this.#open(), wait);
  }

  #connect(ticket) {
    const { token, withCredentials } = this.#asker;
    const resume = this.#id === null ? "" : `&lastEventId=${encodeURIComponent(this.#id)}`;
    const source = this.#source =
      new EventSource(this.#address(this.topics, resume + ticket), { withCredentials });
    const ifMine = (action) => (event) => source === this.#source && action(event);
    // What has nothing to catch up with begins without an event.
    source.onopen = ifMine(() => this.#heard.resumed());
    source.onerror = ifMine(() => {
      this.#interrupted();
      // EventSource comes back by itself, unless the answer was no stream: then it gives up
      // (HTML standard §9.2.3, “fail the connection”).
      if (source.readyState === EventSource.CLOSED) this.#later(() => this.#ask());
      else if (token) {
        // With the ticket of before, which is used up.
        this.#leave();
        this.#later(() => this.#open());
      }
    });
    for (const name of events) {
      source.addEventListener(name, ifMine((event) => this.#receive(name, event)));
    }
  }

  #receive(event, { data: text, lastEventId }) {
    const data = parse(text);
    if (event === "fetchError" && [401, 403].includes(data.status)) return this.#bar(data);
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
      case "fetchError": return this.#heard.failed(topic, "error", data);
      case "recovered": return this.#heard.failed(topic, event, data);
      default: this.#arriving?.events.push({ event, data });
    }
  }

  /** The stream ends here. 403: of several queries it does not say which may not be read any more. */
  #bar(problem) {
    this.#leave();
    this.#interrupted();
    if (this.topics.length === 1 || problem.status === 401) this.#refuse(this.topics, problem);
    else this.#ask(() => this.#later(() => this.#open()));
  }

  #refuse(topics, problem) {
    for (const topic of topics) this.#heard.refused(topic, problem);
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
  async #ask(comeBack = () => this.#open()) {
    const { topics } = this;
    const answer = await this.#answer(topics);
    if (this.#isClosed) return;
    const { status, isGood, isFinal, wait, problem } = answer;
    if (status === 401 && this.#asker.token) return this.#refuse(topics, problem);
    // One bad topic spoils the stream for all: each is asked for alone.
    const answers = !isFinal ? [] : topics.length === 1 ? [answer]
      : await Promise.all(topics.map((topic) => this.#answer([topic])));
    if (this.#isClosed) return;
    if (isGood) return comeBack();
    answers.forEach((answer, index) =>
      answer.isFinal && this.#heard.refused(topics[index], answer.problem));
    if (answers.length && answers.every((answer) => answer.isGood)) this.#heard.clashed(topics);
    else if (!answers.some((answer) => answer.isFinal)) this.#later(() => this.#ask(), wait);
  }

  #answer(topics) { return this.#request(this.#address(topics, "&snapshot=false")); }

  /** What is answered; the body only where it is JSON: a stream has no end. */
  async #request(address, init) {
    const probe = new AbortController();
    const { token, withCredentials } = this.#asker;
    try {
      const response = await fetch(address, { ...init, signal: probe.signal, cache: "no-store",
        ...withCredentials && { credentials: "include" },
        ...token && { headers: { Authorization: `Bearer ${token}` } } });
      const { status, statusText: title, headers } = response;
      // Not “too slow” and “too many”.
      const isFinal = status === 204 || (status >= 400 && status < 500 && ![408, 429].includes(status));
      const problem = status < 400 ? null
        : { ...await response.json().catch(() => ({ title, detail: "" })), status };
      const wait = 1000 * (Number(headers.get("Retry-After")) || 0);
      const body = init && status < 400 ? await response.json() : null;
      return { status, isGood: status < 400 && !isFinal, isFinal, problem, wait, body };
    } catch {
      return {};
    } finally {
      probe.abort();
    }
  }
}
