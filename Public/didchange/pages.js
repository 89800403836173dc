/** Pages of records for a list that is scrolled faster than a live window follows. */

import { keyed, parse } from "./wire.js";

const pageSize = 100;
const maximumPages = 30;
/** Answers waited for at once: the newest wish goes first, and older ones are forgotten. */
const maximumRequests = 2;

export class Pages {
  #controller;
  #arrived;
  /** Number of the page → its records; the oldest first. */
  #pages = new Map();
  #requests = new Map();
  #wishes = [];

  constructor(controller, arrived) {
    this.#controller = controller;
    this.#arrived = arrived;
  }

  /** The record, if its page is here; else the page is wished for. */
  recordAt(offset) {
    const number = Math.floor(offset / pageSize);
    const page = this.#pages.get(number);
    if (page) return page[offset % pageSize];
    if (!this.#requests.has(number) && this.#wishes.at(-1) !== number) {
      this.#wishes = [...this.#wishes.slice(-2), number];
      this.#request();
    }
  }

  /** The result has changed. */
  clear() { this.#pages.clear(); }

  close() {
    this.#wishes = [];
    for (const request of this.#requests.values()) request.abort();
  }

  async #request() {
    if (this.#requests.size >= maximumRequests || this.#wishes.length === 0) return;
    const number = this.#wishes.pop();
    const request = new AbortController();
    this.#requests.set(number, request);
    try {
      const address = new URL(this.#controller.address("records"));
      address.searchParams.set("offset", number * pageSize);
      address.searchParams.set("limit", pageSize);
      const response = await this.#controller.fetch(address, { signal: request.signal });
      if (response.ok) this.#keep(number, parse(await response.text()).records);
    } catch {
      // The connection's state is shown elsewhere; the next drawing asks again.
    } finally {
      this.#requests.delete(number);
      if (!request.signal.aborted) this.#request();
    }
  }

  #keep(number, records) {
    this.#pages.set(number, records.map((item) => keyed(item)));
    if (this.#pages.size > maximumPages) this.#pages.delete(this.#pages.keys().next().value);
    this.#arrived();
  }
}
