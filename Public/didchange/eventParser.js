/** The event stream format (HTML standard, §9.2.6), from texts that may be cut anywhere. */
export class EventParser {
  /** What the next request continues after. A block may have an id only. */
  lastEventId = "";
  /** Milliseconds after which the server wants its clients back, and how often it said so. */
  retry = 0;
  retries = 0;
  /** The parts of the line that is not over; a text of megabytes is not searched twice. */
  #parts = [];
  #event = "";
  #data = [];
  #id = null;
  #endedInCR = false;
  #heard;

  /** `heard` is called with the name and the data of each event; with "" for a block without. */
  constructor(heard) {
    this.#heard = heard;
  }

  /** Whether the rest of an event is to come. */
  get isWithin() { return this.#event !== "" || this.#data.length > 0; }

  take(text) {
    const rest = this.#endedInCR && text[0] === "\n" ? text.slice(1) : text;
    if (text) this.#endedInCR = text.endsWith("\r");
    const [first, ...lines] = rest.split(/\r\n|\n|\r/);
    this.#parts.push(first);
    for (const line of lines) {
      this.#line(this.#parts.join(""));
      this.#parts = [line];
    }
  }

  #line(line) {
    if (line === "") return this.#end();
    const [, name, value] = /^([^:]*):? ?([^]*)$/.exec(line);
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^\d+$/.test(value)) {
      this.retry = Number(value);
      this.retries++;
    }
  }

  #end() {
    const [event, data] = [this.#event || "message", this.#data.splice(0)];
    this.lastEventId = this.#id ?? this.lastEventId;
    [this.#event, this.#id] = ["", null];
    this.#heard(data.length ? event : "", data.join("\n"));
  }
}

/** Reads the body of an answer to its end; `arrived` is called after each piece that comes. */
export async function readEvents(response, parser, arrived = () => {}) {
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    parser.take(decoder.decode(value, { stream: true }));
    arrived();
  }
}
