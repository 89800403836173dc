// A server that the test plays: of it the streams, and whatever else the test sets as `fetch`.

import { afterEach, beforeEach } from "node:test";

/** The streams opened so far, the newest last. */
export const streams = [];

/** What answers all other requests; also those for streams, while `isAsked`, until it has a good answer. */
let other = () => { throw new Error("nothing should be fetched"); };
const refusals = { isAsked: false };

const turn = () => new Promise((resolve) => setImmediate(resolve));

export class PlayedStream {
  static CONNECTING = 0;
  static CLOSED = 2;
  /** As of an EventSource. */
  readyState = 0;
  #answer;
  #refuse;
  #body;

  constructor(url, { signal, headers, credentials }) {
    this.url = new URL(url);
    Object.assign(this, { headers: new Headers(headers), credentials });
    streams.push(this);
    this.answered = new Promise((resolve, reject) => [this.#answer, this.#refuse] = [resolve, reject]);
    signal.addEventListener("abort", () => {
      this.readyState = 2;
      this.#refuse(signal.reason);
      this.#body?.error(signal.reason);
    });
  }

  #begin() {
    if (this.readyState !== 0) return;
    this.readyState = 1;
    const body = new ReadableStream({ start: (controller) => { this.#body = controller; } });
    this.#answer(new Response(body, { headers: { "Content-Type": "text/event-stream" } }));
  }

  open() {
    this.#begin();
    return turn();
  }

  /** Text as it stands on the wire. */
  write(text) {
    if (this.readyState === 2) return turn();
    this.#begin();
    this.#body.enqueue(new TextEncoder().encode(text));
    return turn();
  }

  send(type, data, lastEventId = "") {
    const id = lastEventId && `id: ${lastEventId}\n`;
    return this.write(`event: ${type}\n${id}data: ${JSON.stringify(data)}\n\n`);
  }

  /** Ends as a server ends it. CLOSED: whoever comes back is answered by the `fetch` of the test, until that is good. */
  fail(readyState = PlayedStream.CONNECTING) {
    refusals.isAsked = refusals.always || readyState === PlayedStream.CLOSED;
    if (this.readyState === 2) return turn();
    if (this.readyState === 0) this.#refuse(new TypeError("network error"));
    else {
      this.write("retry: 0\n\nretry: 0\n\n");
      this.#body.close();
    }
    this.readyState = 2;
    return turn();
  }

  /** Breaks off. */
  cut() {
    this.#begin();
    this.#body.error(new TypeError("network error"));
    this.readyState = 2;
    return turn();
  }
}

/** Every stream is asked for with the `fetch` of the test first. */
export const askFirst = (isAsked) => { refusals.isAsked = refusals.always = isAsked; };

async function played(address, init = {}) {
  const { pathname, searchParams } = new URL(address);
  if (!pathname.endsWith("/events") || searchParams.has("snapshot")) return other(address, init);
  if (refusals.isAsked) {
    const answer = await other(address, init);
    if (answer.status >= 204) return answer;
    refusals.isAsked = refusals.always ?? false;
  }
  init.signal?.throwIfAborted();
  return new PlayedStream(address, init).answered;
}
Object.defineProperty(globalThis, "fetch", { get: () => played, set: (answer) => { other = answer; } });

// Node 18 has it behind a flag.
globalThis.CustomEvent ??= class extends Event {
  constructor(type, { detail }) {
    super(type);
    this.detail = detail;
  }
};

const wait = globalThis.setTimeout;

/** Waits for short timers and the promises behind them. */
export async function settled() {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => wait(resolve, 4));
}

/** Begins each test of a file with no stream and a server that answers nothing. @returns what is closed after it */
export function closedAfterEach() {
  const controllers = [];
  beforeEach(() => {
    streams.length = 0;
    askFirst(false);
    globalThis.fetch = () => { throw new Error("nothing should be fetched"); };
    Math.random = () => 0;
  });
  afterEach(async () => {
    for (const controller of controllers.splice(0)) controller.close();
    await settled();
  });
  return controllers;
}
