// What a page has and node has not: a stream that the test plays.

/** The streams opened so far, the newest last. */
export const streams = [];

export class PlayedEventSource extends EventTarget {
  static CONNECTING = 0;
  static OPEN = 1;
  static CLOSED = 2;
  readyState = 0;

  constructor(url) {
    super();
    this.url = new URL(url);
    streams.push(this);
  }

  open() {
    this.readyState = 1;
    this.onopen?.();
  }

  send(type, data, lastEventId = "") {
    this.dispatchEvent(Object.assign(new Event(type), { data: JSON.stringify(data), lastEventId }));
  }

  fail(readyState) {
    this.readyState = readyState;
    this.onerror?.();
  }

  close() {
    this.readyState = 2;
  }
}

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
