/** Long polls (protocol, §8), where something on the way holds streams back: one after another for each query. */

import { answerOf, ask, Delay } from "./asking.js";
import { parse } from "./wire.js";

/** Requests at once: a browser has six connections to a server of HTTP/1.1, and others need some too. */
const maximumRequests = 4;
/** Seconds that the server waits for a change, and those for a round where many share few requests. */
const [longestWait, round] = [20, 4];
/** Milliseconds after which an answer has been lost. */
const patience = 10_000;
/** Milliseconds: an answer without news that comes sooner is no answer of the server. */
const soon = 500;

/** The requests to a server, whoever asks. */
class Line {
  /** Those who come again and again. */
  members = 0;
  #brief = [];
  #waiting = [];
  #running = 0;

  /** Seconds. */
  get wait() {
    const rounds = Math.ceil(this.members / maximumRequests);
    return rounds < 2 ? longestWait : Math.max(1, Math.floor(round / rounds));
  }

  /** One that is answered at once goes first, beside those that wait for changes. */
  add(request, isBrief) {
    if (isBrief) this.#brief.push(request);
    else this.#waiting.push(request);
    this.#next();
  }

  #next() {
    for (;;) {
      const most = this.#brief.length ? maximumRequests + 1 : maximumRequests;
      const request = this.#running < most && (this.#brief.shift() ?? this.#waiting.shift());
      if (!request) return;
      this.#running++;
      request().finally(() => {
        this.#running--;
        this.#next();
      });
    }
  }
}

/** By server. */
const lines = new Map();

/** Tells `heard` what comes, as `Stream` does. */
export class Polls {
  static transport = "longPoll";
  #asker;
  #heard;
  #line;
  #isClosed = false;
  /** Topic → its request, its timer, and the cursor that it was given last. */
  #turns = new Map();

  constructor(asker, topics, heard) {
    this.topics = topics;
    this.#asker = asker;
    this.#heard = heard;
    if (!lines.has(asker.base)) lines.set(asker.base, new Line());
    this.#line = lines.get(asker.base);
    this.#line.members += topics.length;
    for (const topic of topics) {
      this.#turns.set(topic, { cursor: null, delay: new Delay() });
      this.#queue(topic);
    }
  }

  close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#line.members -= this.topics.length;
    for (const { timer, request } of this.#turns.values()) {
      clearTimeout(timer);
      request?.abort();
    }
  }

  /** What has arrived does not fit: the next poll is after nothing. */
  startOver(topics) {
    for (const topic of topics) this.#turns.get(topic).cursor = null;
    this.#heard.interrupted(topics);
  }

  /** Who has nothing, or does not know whether it still is so, is told at once. */
  #queue(topic) {
    const turn = this.#turns.get(topic);
    const isBrief = topic.state !== "live" || !topic.head.version || topic.failure;
    this.#line.add(async () => this.#isClosed || this.#poll(topic, turn, isBrief ? 0 : this.#line.wait), isBrief);
  }

  #address({ query, given, head: { version } }, { cursor }, wait) {
    const items = new URLSearchParams(given);
    if (version) items.set("after", version);
    items.set("wait", wait);
    if (cursor) items.set("cursor", cursor);
    return `${this.#asker.base}queries/${encodeURIComponent(query)}/changes?${items}`;
  }

  async #poll(topic, turn, wait) {
    const { signal } = turn.request = new AbortController();
    const lost = setTimeout(() => turn.request.abort(), 1000 * wait + patience);
    const began = Date.now();
    let answer = {}, body;
    try {
      // Without a cursor it is an address of before.
      const response = await ask(this.#asker, this.#address(topic, turn, wait),
        { signal, cache: turn.cursor ? "default" : "no-store" });
      answer = await answerOf(response);
      if (answer.isGood) body = parse(await response.text());
    } catch { /* As if there were none. */ } finally {
      clearTimeout(lost);
    }
    if (this.#isClosed) return;
    if (body?.events) this.#take(topic, turn, body, wait && Date.now() - began < soon);
    else if (answer.status === 500) this.#fail(topic, turn, answer);
    else if (answer.isFinal) await this.#refuse(topic, answer);
    else this.#pause(topic, turn, answer);
  }

  #take(topic, turn, { version, commit, cursor, events }, isSoon) {
    turn.cursor = cursor ?? null;
    this.#heard.resumed([topic]);
    if (topic.failure && !events.length) this.#heard.failed(topic, "recovered", { query: topic.query, version, commit });
    const fits = this.#tell(topic, events);
    if (fits) this.#heard.caughtUp([topic]);
    this.#heard.polled();
    if (this.#isClosed) return;
    if (!fits || (!events.length && isSoon)) return this.#later(topic, turn);
    turn.delay.reset();
    this.#queue(topic);
  }

  /** @returns whether all of it fits what the topic has */
  #tell(topic, events) {
    let arriving = null;
    for (const { event, data } of events) {
      switch (event) {
        case "snapshot": this.#heard.snapshot(topic, data); break;
        case "willChange": arriving = { willChange: data, events: [] }; break;
        case "didChange":
          this.#heard.commit([[topic, { events: [], ...arriving, didChange: data }]], [topic]);
          // The rest of the answer leads on from what does not fit.
          if (!topic.head.version) return false;
          arriving = null;
          break;
        case "sectionChange":
        case "change": arriving?.events.push({ event, data });
      }
    }
    return true;
  }

  /** 404: the query is not there, or polls are not. */
  async #refuse(topic, { status, problem }) {
    if (status === 404) {
      const query = `${this.#asker.base}queries/${encodeURIComponent(topic.query)}`;
      const isThere = await ask(this.#asker, query).then(({ ok }) => ok, () => false);
      if (this.#isClosed) return;
      if (isThere) return this.#heard.missing();
    }
    this.#heard.refused(topic, problem);
  }

  /** The query cannot be read; what it showed stays. */
  #fail(topic, turn, { problem, wait }) {
    this.#heard.failed(topic, "error", problem);
    this.#later(topic, turn, wait);
  }

  #pause(topic, turn, { problem, wait }) {
    this.#heard.interrupted([topic]);
    this.#heard.troubled({ problem }, [topic]);
    this.#later(topic, turn, wait);
  }

  #later(topic, turn, wait) {
    turn.timer = setTimeout(() => this.#queue(topic), turn.delay.next(wait));
  }
}
