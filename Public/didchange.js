/** A live, ordered, sectioned list of records from a didchange server: see didchange.d.ts. */

import { applyChangeSet } from "./didchange/changeSet.js";
import { subscribe } from "./didchange/link.js";
import { keyed, keyOf, missing, sectionsOf, textOf } from "./didchange/wire.js";

export { applyChangeSet, ChangeSetError } from "./didchange/changeSet.js";
export { keyOf } from "./didchange/wire.js";

const defined = (values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

const withoutWindow = (text) => {
  const items = new URLSearchParams(text);
  for (const name of ["offset", "limit"]) items.delete(name);
  return String(items);
};

/** Where nothing is drawn, when this turn is over. */
function inNextFrame(action) {
  if (!globalThis.requestAnimationFrame) queueMicrotask(action);
  else if (document.hidden) setTimeout(action, 16);
  else requestAnimationFrame(action);
}

/** What the console was told, each thing once. */
const told = new Set();

export class FetchedRecordsController extends EventTarget {
  #base;
  #query;
  #parameters = {};
  #order;
  #window;
  /** Who asks: `{token, withCredentials}`; null: whoever has the page's own cookies. */
  #caller;
  #subscription = null;
  /** The URL query that was asked for last, and whether that is under way for another. */
  #asked;
  #isAsking = false;
  /** The URL query, without a window, of what is shown, and of what comes now. */
  #shown;
  #coming;
  #wasPending = false;
  /** What is shown elsewhere than the server says. */
  #local = null;
  #isClosed = false;
  #result = { sections: [] };
  /** What stands around it on the wire. */
  #head = { numberOfRecords: 0 };
  /** Made when first asked for, forgotten with each change: the flat list, key → index path. */
  #flat = null;
  #paths = null;
  #state = "connecting";
  #transport = "stream";

  constructor(url, { parameters = {}, order, window = null, token, withCredentials = false } = {}) {
    super();
    // Where it is sent, a text would show it.
    if (typeof token !== "function" && /[^!-~]/.test(token ?? "")) {
      throw new TypeError("The token is not a text that a header can carry");
    }
    this.#caller = token || withCredentials ? { token, withCredentials } : null;
    const address = new URL(url, globalThis.document?.baseURI ?? globalThis.location?.href);
    const [, base, name] = /^(.*\/)queries\/([^/]+)\/?$/.exec(address.pathname) ?? [];
    if (!name) throw new TypeError(`“${url}” is not the address of a query: …/v1/queries/players`);
    this.#base = address.origin + base;
    this.#query = decodeURIComponent(name);
    const { order: named = null, ...given } = Object.fromEntries(address.searchParams);
    [this.#order, this.#window] = [order ?? named, window];
    this.parameters = { ...given, ...parameters };
  }

  get url() { return this.address("events"); }
  get state() { return this.#state; }
  get transport() { return this.#transport; }
  get sections() { return this.#result.sections; }
  get numberOfRecords() { return this.#head.numberOfRecords; }
  get totalNumberOfRecords() { return this.#head.totalNumberOfRecords ?? this.numberOfRecords; }
  get version() { return this.#head.version; }
  get commit() { return this.#head.commit; }
  get alongside() { return this.#head.alongside ?? {}; }
  get fetchedRecords() { return this.#flat ??= this.sections.flatMap(({ records }) => records); }
  get sectionIndexTitles() {
    return [...new Set(this.sections.map(({ indexTitle }) => indexTitle))].filter(Boolean);
  }

  get parameters() { return { ...this.#parameters }; }
  set parameters(parameters) {
    this.#parameters = defined(parameters);
    this.#ask();
  }

  get order() { return this.#order; }
  set order(order) {
    this.#order = order ?? null;
    this.#ask();
  }

  get window() { return this.#window; }
  set window(window) {
    this.#window = window;
    this.#ask();
  }

  get isPending() { return this.version !== undefined && this.#shown !== String(this.#given()); }

  recordAt([section, item]) { return this.sections[section]?.records[item]; }

  indexPathFor(key) {
    if (!this.#paths) {
      this.#paths = new Map();
      this.sections.forEach(({ records }, section) => records.forEach((record, item) => {
        const text = textOf(keyOf(record));
        if (!this.#paths.has(text)) this.#paths.set(text, [section, item]);
      }));
    }
    return this.#paths.get(textOf([key].flat()));
  }

  address(resource) {
    const all = String(this.#given());
    return `${this.#base}queries/${encodeURIComponent(this.#query)}/${resource}${all && `?${all}`}`;
  }

  async fetch(url, init) {
    const address = new URL(url, this.#base);
    if (!address.href.startsWith(this.#base)) throw new TypeError(`“${address.origin}${address.pathname}” is not of this controller’s server`);
    if (!this.#caller) return fetch(address, init);
    return (await import("./didchange/caller.js")).callerOf(this.#caller).fetch(address, init);
  }

  bind(element, options) {
    const stopping = new AbortController();
    import("./didchange/bind.js").then(({ bind }) =>
      stopping.signal.aborted || bind(this, element, { ...options, signal: stopping.signal }),
    (error) => this.#complain(missing(error)));
    return () => stopping.abort();
  }

  move(key, newIndexPath, request) {
    const moving = import("./didchange/localMoves.js").then(({ LocalMoves }) => {
      this.#local ??= new LocalMoves(this, (changeSetOf) => this.#show(changeSetOf({ query: this.#query, ...this.#head })));
      return this.#local.add(key, newIndexPath, request);
    }, (error) => this.#complain(missing(error)));
    // It may fail before there is anybody to hear of it.
    Promise.resolve(request).catch(() => {});
    return () => void moving.then((undo) => undo?.());
  }

  close() {
    this.#isClosed = true;
    this.#subscription?.close();
    this.#become("closed");
  }

  async *[Symbol.asyncIterator]() {
    let given;
    for (;;) {
      if (this.version !== undefined && given !== this.sections) yield (given = this.sections);
      // What nothing follows by itself.
      else if (["closed", "signedOut", "forbidden"].includes(this.#state)) return;
      else {
        const heard = new AbortController();
        await new Promise((resolve) => ["snapshot", "didChange", "state"].forEach((name) =>
          this.addEventListener(name, resolve, { signal: heard.signal })));
        heard.abort();
      }
    }
  }

  /** What stands in a URL; undefined values do not. */
  #given(window) {
    return new URLSearchParams(defined({ ...this.#parameters, order: this.#order ?? undefined, ...window }));
  }

  /** Once for all that is set in one turn, and then in one frame: a slider moves more often. */
  #ask() {
    this.#notePending();
    if (this.#isAsking) return;
    this.#isAsking = true;
    (this.#subscription ? inNextFrame : queueMicrotask)(() => {
      this.#isAsking = false;
      if (this.#isClosed) return;
      const isAgain = this.#state === "closed";
      const parameters = String(this.#given(this.#window));
      if (parameters === this.#asked && !isAgain) return;
      this.#asked = parameters;
      const topic = { base: this.#base, query: this.#query, parameters };
      if (isAgain) this.#become(this.version === undefined ? "connecting" : "stale");
      if (this.#subscription) return this.#subscription.ask(topic);
      this.#coming = withoutWindow(parameters);
      this.#subscription = subscribe(topic, (kind, payload) =>
        this.#isClosed || this.#receive(kind, payload), this.#caller);
    });
  }

  #notePending() {
    if (this.isPending === this.#wasPending) return;
    this.#wasPending = this.isPending;
    this.#emit("pending", this.isPending);
  }

  #receive(kind, payload) {
    switch (kind) {
      // What follows is of that one.
      case "request": return (this.#coming = withoutWindow(payload));
      case "snapshot": return this.#restart(payload);
      case "changeSet": return this.#finish(payload);
      case "error": return this.#complain(payload);
      case "recovered": return this.#emit(kind, payload);
      case "refused": return this.#refuse(payload);
      // What goes on to another request connects anew; what is shown is not wrong for that.
      case "state":
        if (payload === "live") this.#shown = this.#coming;
        this.#notePending();
        return payload === "connecting" || this.#become(payload);
      case "transport":
        if (payload === this.#transport) return;
        this.#transport = payload;
        return this.#emit("transport", payload);
    }
  }

  #restart(snapshot) {
    this.#local?.takeBack();
    this.#shown = this.#coming;
    this.#adopt({ sections: sectionsOf(snapshot.sections, snapshot.records.map(keyed)) }, snapshot);
    this.#emit("snapshot", snapshot);
    this.#local?.goOn(null);
  }

  #finish(changeSet) {
    const { events } = changeSet;
    this.#local?.takeBack();
    this.#shown = this.#coming;
    for (const { data } of events) keyed(data);
    this.#show(changeSet);
    this.#local?.goOn(events);
  }

  #show({ willChange, events, didChange }) {
    const result = applyChangeSet(this.#result, events);
    this.#emit("willChange", willChange);
    this.#adopt(result, didChange);
    for (const { event, data } of events) this.#emit(event, data);
    this.#emit("didChange", didChange);
  }

  /** 401 or 403: what is shown may not be seen any more. */
  #refuse(problem) {
    if (this.version !== undefined) {
      this.#restart({ query: this.#query, version: "", commit: this.commit, numberOfRecords: 0, sections: [], records: [] });
    }
    this.#complain(problem);
    this.#isClosed = true;
    this.#subscription.close();
    this.#become(problem.status === 401 ? "signedOut" : "forbidden");
  }

  #adopt(result, { version, commit, numberOfRecords, totalNumberOfRecords, alongside, window }) {
    this.#result = result;
    this.#head = { version, commit, numberOfRecords, totalNumberOfRecords, alongside, window };
    this.#flat = this.#paths = null;
  }

  #complain(problem) {
    const words = [problem.title, problem.detail].filter(Boolean).join(": ");
    if (!told.has(words)) console.warn(`didchange, ${this.#base}queries/${this.#query}: ${words}`);
    told.add(words);
    this.#emit("error", problem);
  }

  #become(state) {
    if (state === this.#state) return;
    this.#state = state;
    this.#emit("state", state);
  }

  #emit(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }
}
