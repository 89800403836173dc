/** Long polls (protocol, §8), where something on the way holds streams back: one after another for each query. */

import { answerOf, ask, Delay } from "./asking.js";
import { parse } from "./wire.js";

/** Requests at once: a browser has six connections to a server of HTTP/1.1, and others need some too. */
const maximumRequests = 4;
/** Seconds that the server waits for a change, and milliseconds after which it has been lost. */
const [longestWait, patience] = [20, 20_000];
/** Milliseconds: an answer without news that comes sooner is no answer of the server. */
const soon = 500;

/** Tells `heard` what comes, as `Stream` does. */
export class Polls {
  static transport = "longPoll";
  #asker;
  #heard;
  #isClosed = false;
  /** Topic → its request, its timer, and the cursor that it was given last. */
  #turns = new Map();
  /** Those that wait until another request ends. */
  #waiting = [];
  #running = 0;

  constructor(asker, topics, heard) {
    this.topics = topics;
    this.#asker = asker;
    this.#heard = heard;
    for (const topic of topics) {
      this.#turns.set(topic, { cursor: null, delay: new Delay() });
      this.#queue(topic);
    }
  }

  close() {
    this.#isClosed = true;
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

  #queue(topic) {
    this.#waiting.push(topic);
    this.#next();
  }

  #next() {
    while (!this.#isClosed && this.#running < maximumRequests && this.#waiting.length) {
      this.#running++;
      const topic = this.#waiting.shift();
      this.#poll(topic, this.#turns.get(topic)).finally(() => {
        this.#running--;
        this.#next();
      });
    }
  }

  /** Where many share few requests, each waits for less. */
  get #wait() {
    return Math.max(1, Math.floor(longestWait / Math.ceil(this.topics.length / maximumRequests)));
  }

  #address({ query, given, head: { version } }, { cursor }) {
    const items = new URLSearchParams(given);
    if (version) items.set("after", version);
    items.set("wait", version ? this.#wait : 0);
    if (cursor) items.set("cursor", cursor);
    return `${this.#asker.base}queries/${encodeURIComponent(query)}/changes?${items}`;
  }

  async #poll(topic, turn) {
    const { signal } = turn.request = new AbortController();
    const lost = setTimeout(() => turn.request.abort(), 1000 * this.#wait + patience);
    const began = Date.now();
    let answer = {}, body;
    try {
      // Without a cursor it is an address of before.
      const response = await ask(this.#asker, this.#address(topic, turn),
        { signal, cache: turn.cursor ? "default" : "no-store" });
      answer = await answerOf(response);
      if (answer.isGood) body = parse(await response.text());
    } catch { /* As if there were none. */ } finally {
      clearTimeout(lost);
    }
    if (this.#isClosed) return;
    if (body?.events) this.#take(topic, turn, body, Date.now() - began);
    else if (answer.isFinal) await this.#refuse(topic, answer);
    else this.#pause(topic, turn, answer.wait);
  }

  #take(topic, turn, { cursor, events }, life) {
    turn.cursor = cursor ?? null;
    this.#heard.resumed([topic]);
    const fits = this.#tell(topic, events);
    this.#heard.polled();
    if (this.#isClosed) return;
    if (!fits || (!events.length && life < soon)) return this.#later(topic, turn);
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
        case "fetchError": this.#heard.failed(topic, "error", data); break;
        case "recovered": this.#heard.failed(topic, event, data); break;
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

  #pause(topic, turn, wait) {
    this.#heard.interrupted([topic]);
    this.#later(topic, turn, wait);
  }

  #later(topic, turn, wait) {
    turn.timer = setTimeout(() => this.#queue(topic), turn.delay.next(wait));
  }
}
