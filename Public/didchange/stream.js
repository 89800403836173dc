/** An event stream of several queries (protocol, §4), kept open whatever happens. */

import { answerOf, ask, Delay } from "./asking.js";
import { EventParser, readEvents } from "./eventParser.js";
import { Pulse } from "./pulse.js";
import { parse } from "./wire.js";

// Milliseconds. A stream begins with a line at once, and the rest of an event follows its beginning; longer
// silence is looked into. One that broke off sooner than `shortLife` has been cut.
const [silentStart, shortLife, testTime] = [3000, 10_000, 10_000];

/** Tells `heard` what comes; `clashed`: these topics cannot be on one stream; `heldBack`, `cut`: by
 * something on the way; `troubled`: it cannot be had for now. */
export class Stream {
  static transport = "stream";
  /** `{base, token, withCredentials}`: where, and who. */
  #asker;
  #heard;
  /** Ends the request on its way. */
  #request = null;
  /** What the whole stream may resume from; "": only what each topic has. */
  #id = "";
  /** The change set on its way, and those that wait for their commit. */
  #arriving = null;
  #unit = [];
  /** Topic → its last failure or recovery in a piece: streams may begin with what is over. */
  #health = new Map();
  #delay = new Delay();
  #pulse;
  #timer;
  #watch;
  /** Whether nothing comes though something should. */
  #isSilent = false;
  /** Whether all of its topics could be had, each alone. */
  #isEachGood = false;
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
    this.#id = "";
    this.#interrupt();
    this.#later(() => this.#open());
  }

  #leave() {
    clearTimeout(this.#timer);
    clearTimeout(this.#watch);
    this.#request?.abort();
    this.#request = null;
  }

  /** A stream that resumes by an id of its own has gone on since its topics began. */
  #address(topics, id = "") {
    const queries = topics.map(({ query, given, head: { version } }) => {
      const items = new URLSearchParams(given);
      if (version && !id) items.set("lastEventId", version);
      return `query=${encodeURIComponent(query + (String(items) && `?${items}`))}`;
    });
    return `${this.#asker.base}events?${queries.join("&")}&heartbeat=event${id && `&lastEventId=${encodeURIComponent(id)}`}`;
  }

  async #open() {
    this.#leave();
    const request = this.#request = new AbortController();
    const isMine = () => request === this.#request;
    const { signal } = request;
    this.#listen(silentStart);
    this.#isSilent = false;
    const pulse = this.#pulse = new Pulse();
    let began, parser, last;
    try {
      const response = await ask(this.#asker, this.#address(this.topics, this.#id),
        { signal, cache: "no-store", headers: { Accept: "text/event-stream" } });
      const answer = await answerOf(response);
      if (!isMine()) return;
      if (!answer.isGood) return this.#declined(answer);
      // Another may answer in the server's place.
      const type = response.headers.get("Content-Type") ?? "";
      if (!/^text\/event-stream/.test(type)) return this.#fail({ type });
      this.#isEachGood = false;
      // What has nothing to catch up with begins without an event.
      this.#heard.resumed();
      if (!isMine()) return;
      began = Date.now();
      parser = new EventParser((event, data) => {
        last = event || parser.lastEventId;
        pulse.heard(event, Date.now());
        if (isMine()) this.#block(parser.lastEventId, event, data);
      });
      await readEvents(response, parser,
        () => isMine() && this.#arrived(parser.isWithin ? silentStart : pulse.silence));
      // A shared stream ends by saying where to go on.
      if (last && last === parser.lastEventId) began = 0;
    } catch (error) {
      if (isMine() && !(error instanceof TypeError)) console.error(error);
    }
    if (!isMine()) return;
    if (parser) this.#lost(began, parser);
    else this.#fail({});
  }

  /** There was no stream. */
  #fail(met) {
    this.#lost();
    if (!this.#isClosed) this.#heard.troubled(met);
  }

  /** The stream ends, or there is none. A server says at both ends when it wants its clients back. */
  #lost(began, { retry = 0, retries = 0 } = {}) {
    const life = Date.now() - began;
    if (life >= shortLife) this.#delay.reset();
    this.#interrupt();
    if (!(life >= shortLife) && retries < 2) this.#heard.cut(life);
    // Where all are told the same they do not come back together.
    if (!this.#isClosed) this.#later(() => this.#open(), retry / 2, retry);
  }

  /** Asks why nothing comes, if nothing comes for so long. */
  #listen(long) {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => this.#wonder(long), long);
  }

  #arrived(long) {
    this.#listen(long);
    if (this.#isSilent) this.#heard.resumed();
    this.#isSilent = false;
    for (const [topic, news] of this.#health) this.#heard.failed(topic, ...news);
    this.#health.clear();
  }

  async #wonder(long) {
    const request = this.#request;
    const watch = this.#watch;
    const { silence } = this.#pulse;
    const isStart = long === silentStart;
    if (!isStart) {
      this.#isSilent = true;
      this.#heard.interrupted();
      this.#heard.troubled({ problem: { reason: "silent", title: "The server is silent",
        detail: `${this.#asker.base} has missed two heartbeats: it is asked again` } });
    }
    const patience = isStart ? silence : testTime;
    // The test may be a file of the same server.
    const { isHeldBack } = await Promise.race([
      import("./selftest.js").then(({ testFor }) => testFor(this.#asker, patience)).catch(() => ({})),
      new Promise((done) => setTimeout(done, patience, {})),
    ]);
    // It may be over, or something has come meanwhile.
    if (request !== this.#request || watch !== this.#watch) return;
    if (isHeldBack) this.#heard.heldBack();
    // A query may take long.
    else if (isStart) this.#listen(silence);
    else this.#lost(Date.now());
  }

  /** One with an id only says where the next request goes on. */
  #block(id, event, text) {
    // What has no name is not the server's.
    if (event && event !== "message") this.#receive(event, text);
    if (id) this.#id = id;
    if (event === "commit") this.#heard.commit(this.#unit.splice(0));
  }

  #receive(event, text) {
    const data = parse(text);
    if (event === "fetchError" && [401, 403].includes(data.status)) return this.#bar(data);
    const topic = "query" in data ? this.#topicOf(data) : null;
    if (topic === undefined) return;
    switch (event) {
      case "snapshot":
        this.#arriving = null;
        this.#health.delete(topic);
        return this.#heard.snapshot(topic, data);
      case "willChange":
        return (this.#arriving = { willChange: data, events: [] });
      case "didChange":
        this.#health.delete(topic);
        this.#unit.push([topic, { events: [], ...this.#arriving, didChange: data }]);
        return (this.#arriving = null);
      case "heartbeat": return this.#heard.caughtUp();
      case "fetchError": return this.#health.set(topic, ["error", data]);
      case "recovered": return this.#health.set(topic, [event, data]);
      case "sectionChange":
      case "change": this.#arriving?.events.push({ event, data });
    }
  }

  /** The stream ends here. 403: of several queries it does not say which may not be read any more. */
  #bar(problem) {
    this.#interrupt();
    if (this.topics.length === 1 || problem.status === 401) this.#refuse(this.topics, problem);
    else this.#later(() => this.#open());
  }

  #refuse(topics, problem) {
    for (const topic of topics) this.#heard.refused(topic, problem);
  }

  /** By name, parameters, order and window, as far as they are given: the server fills in defaults. */
  #topicOf({ query, parameters, order, window }) {
    const named = this.topics.filter((topic) => topic.query === query);
    if (named.length < 2) return named[0];
    const echo = { order, ...parameters, ...window };
    const fitting = named.filter(({ given }) =>
      [...given].every(([name, text]) => (echo[name]?.base64 ?? echo[name]) == text));
    // It gives all that the others give, and more.
    const [topic, another] = fitting.filter(({ given }) =>
      fitting.every((other) => [...other.given.keys()].every((name) => given.has(name))));
    if (topic && !another) return topic;
    this.close();
    this.#heard.clashed(named);
  }

  /** Half a commit is void: the server resumes before it. */
  #interrupt() {
    this.#leave();
    this.#arriving = null;
    this.#unit = [];
    this.#heard.interrupted();
  }

  #later(action, atLeast, spread) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, this.#delay.next(atLeast, spread));
  }

  /** Whether to come back (5xx) or not (204, 4xx). */
  #declined({ isFinal, status, problem, wait }) {
    this.#interrupt();
    if (!isFinal) this.#heard.troubled({ problem });
    const isSignedOut = status === 401 && this.#asker.token;
    if (isFinal && (this.topics.length === 1 || isSignedOut)) this.#refuse(this.topics, problem);
    else if (isFinal) this.#askEach();
    else {
      this.#heard.cut(NaN);
      this.#later(() => this.#open(), wait);
    }
  }

  /** One bad topic spoils the stream for all: each is asked for alone. */
  async #askEach() {
    const { topics } = this;
    const request = this.#request = new AbortController();
    const answers = await Promise.all(topics.map((topic) => {
      const one = new AbortController();
      return ask(this.#asker, `${this.#address([topic])}&snapshot=false`, { signal: one.signal, cache: "no-store" })
        .then(answerOf).catch(() => ({})).finally(() => one.abort());
    }));
    if (request !== this.#request) return;
    answers.forEach(({ isFinal, problem }, index) => isFinal && this.#heard.refused(topics[index], problem));
    if (answers.every(({ isGood }) => isGood)) {
      // What was refused may be allowed by now: they clash if it is refused once more.
      if (this.#isEachGood) return this.#heard.clashed(topics);
      this.#isEachGood = true;
      this.#open();
    } else if (!answers.some(({ isFinal }) => isFinal)) this.#later(() => this.#open());
  }
}
