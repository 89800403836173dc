// What may stand between a client and its server: it lets answers through, holds them back, or cuts streams.

import { once } from "node:events";
import { createServer, request } from "node:http";

/** Bytes that something on the way may keep until it has more. */
const held = 65_536;

export class Middle {
  /** "through", "buffering" (an answer comes when it is over, or so long), or "cutting". */
  mode = "through";
  /** Milliseconds that a stream is let live where streams are cut. */
  life = 1000;
  /** `{path, status, text}` of each answer that is over, in their order; `status` 0: the server did not answer. */
  log = [];
  /** What becomes of the text of the next answer whose path has a part: `{part, become}`. */
  alteration = null;
  /** What requests and answers whose path has a part wait for: `{part, requests, answers}`, of promises. */
  gate = null;
  /** `{path, status, text}` of what is under way, by their answers. */
  #open = new Map();
  #server = createServer((asked, answer) => this.#pass(asked, answer));

  constructor(server) {
    this.server = server;
  }

  get url() { return `http://127.0.0.1:${this.#server.address().port}/`; }
  get open() { return [...this.#open.values()].map(({ path }) => path); }
  /** `{path, status, text}` of the streams under way, with the text so far. */
  get flowing() { return [...this.#open.values()].filter(({ path }) => path.includes("/events")); }
  get streams() { return this.open.filter((path) => path.includes("/events")); }
  /** The answers whose path has a part. */
  of(part) { return this.log.filter(({ path }) => path.includes(part)); }

  async start() {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return this;
  }

  stop() {
    this.#server.closeAllConnections();
    return new Promise((done) => this.#server.close(done));
  }

  async #pass({ method, url: path, headers }, answer) {
    const { port } = this.server;
    if (this.#holds(path)) await this.gate.requests;
    if (answer.destroyed) return;
    const asking = request({ port, host: "127.0.0.1", method, path, headers, agent: false });
    const entry = { path, status: 0, text: "" };
    asking.on("response", (response) => this.#answer(entry, response, answer));
    asking.on("error", () => {
      this.log.push(entry);
      if (answer.headersSent) answer.destroy();
      else answer.writeHead(502).end();
    });
    this.#open.set(answer, entry);
    answer.on("close", () => {
      this.#open.delete(answer);
      asking.destroy();
    });
    asking.end();
  }

  #holds(path) { return this.gate !== null && path.includes(this.gate.part); }

  #answer(entry, response, answer) {
    const { path } = entry;
    const { statusCode: status, headers } = response;
    entry.status = status;
    const isAltered = this.alteration && path.includes(this.alteration.part);
    const { become = (text) => text } = isAltered ? this.alteration : {};
    if (isAltered) this.alteration = null;
    let waiting = [], size = 0;
    const send = async () => {
      if (this.#holds(path)) await this.gate.answers;
      if (!answer.headersSent) {
        const { "content-length": _, ...others } = headers;
        answer.writeHead(status, isAltered ? others : headers);
        answer.flushHeaders();
      }
      for (const piece of waiting.splice(0)) answer.write(piece);
      size = 0;
    };
    if (this.mode === "cutting" && path.includes("/events")) setTimeout(() => answer.destroy(), this.life);
    if (this.mode !== "buffering" && !isAltered) send();
    response.on("data", (piece) => {
      entry.text += piece;
      waiting.push(piece);
      size += piece.length;
      if (!isAltered && (this.mode !== "buffering" || size >= held)) send();
    });
    response.on("end", async () => {
      if (isAltered) waiting = [become(entry.text)];
      await send();
      answer.end();
    });
    // The server is gone, or whoever asked.
    response.on("error", () => answer.destroy());
    answer.on("close", () => this.log.push(entry));
  }
}
