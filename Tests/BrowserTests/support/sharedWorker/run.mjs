// A server, another process that writes, and pages of one browser whose connections one worker has.

import { Random } from "../random.mjs";
import { eventually } from "../server.mjs";
import { Stage } from "../stage.mjs";
import { betweenTransactions, deeds, signInByCookie, withoutServer } from "./deeds.mjs";
import { History, Writer } from "./history.mjs";
import { host, page } from "./pages.mjs";
import { beginning, configuration, ending, schema, tokens, transaction } from "./transactions.mjs";
import { Watched } from "./watched.mjs";

export class Run {
  #stage = new Stage();
  random;
  history = new History();
  tabs = [];
  /** Name → `{name, tab, shares}`. */
  pages = new Map();
  /** Name → the controller, as it is known to be open. */
  open = new Map();
  cookie = "";
  /** How often something has happened. */
  counts = {};
  /** What the cookie was and is, as far as it was judged. */
  #cookies = [""];
  #watched = new Map();
  /** Those whose page is gone: what they noted before is still judged. */
  #leaving = [];
  /** Function → what it has given. */
  #given = new Map();
  #names = 0;
  /** The server was at this transaction, of all that is shown. */
  #settled = 0;
  /** Tokens of who was given another window: what moves has a stream beside that of what does not. */
  #movers = new Set();
  /** Token → the worker has heard of its end, after this transaction at the earliest. */
  #floors = new Map();
  #log = [];

  constructor(seed) { this.random = new Random(seed); }

  async start() {
    const { browser, database, server } = await this.#stage.build({ browser: true, sql: schema, configuration,
      options: ["--log-level", "debug"], pages: { "host.html": host, "randomPage.html": page } });
    [this.browser, this.server] = [browser, server];
    this.writer = this.#stage.keep(new Writer(database.path, tokens));
    for (let n = 0; n < 2; n++) this.tabs.push(await this.browser.open(`${this.server.url}host.html`));
    await this.write(beginning);
    for (let n = 0; n < 3; n++) await this.openPage();
    await this.#begin();
  }

  /** Has happen in each run what it is for. */
  async #begin() {
    for (const { name } of this.pages.values()) {
      const opened = ["orders", "shelf", "ledger"].map((query) => ({ name: this.name("c"), query, text: "ann" }));
      await this.exchange(name, [], null, opened);
    }
    await this.settle();
    await this.write(ending("ann"));
    await this.settle();
    await signInByCookie(this);
  }

  stop() { return this.#stage.strike(); }

  count(what) { this.counts[what] = (this.counts[what] ?? 0) + 1; }
  say(text) { this.#log.push(`  ${text}`); }
  name(kind) { return `${kind}${++this.#names}`; }
  get lately() { return this.#log.slice(-60).join("\n"); }

  // Transactions

  /** One transaction, with what happens meanwhile. */
  async write(sql = transaction(this.random), meanwhile = () => {}) {
    const tick = this.history.last + 1;
    this.#log.push(`${tick}: ${sql}`);
    this.writer.begin(`${sql}; UPDATE clock SET tick = ${tick}`);
    try {
      await meanwhile();
    } finally {
      this.history.append(await this.writer.end());
    }
  }

  async step(number) {
    for (let n = this.random.number(0, 3); n > 0; n--) await this.write();
    await this.write(undefined, () => this.#act(this.random.number(0, 3)));
    await this.#act(this.random.number(0, 2), betweenTransactions);
    // These two take long, and always happen.
    if (number % 20 === 9) await this.restart();
    if (number % 20 === 19) await this.leaveAll();
    if (number % 4 === 3) await this.judge();
    if (this.random.once(6)) await this.settle();
  }

  async #act(times, all = deeds) {
    for (let n = 0; n < times; n++) await this.random.weighed(all)(this);
  }

  async restart() {
    this.say("the server ends");
    this.history.wasAway = true;
    await this.server.stop("SIGKILL");
    await this.write(undefined, () => this.#act(this.random.number(1, 4), withoutServer));
    await this.server.start();
    this.say("the server is there again");
    this.count("server restarted");
  }

  /** The worker ends with its last page. */
  async leaveAll() {
    for (const { name } of [...this.pages.values()]) await this.closePage(name);
    await this.write();
    for (let n = 0; n < 3; n++) await this.openPage();
    this.count("last page gone");
  }

  // Pages

  async openPage(tab = this.random.pick(this.tabs)) {
    const name = this.name("page");
    this.say(`${name} opens`);
    await tab.run((name) => openPage(name), name);
    this.pages.set(name, { name, tab, shares: [] });
  }

  async reloadPage(name) {
    this.say(`${name} is loaded anew`);
    const page = this.pages.get(name);
    await page.tab.run((name) => reloadPage(name), name);
    this.#forget(name);
    page.shares = [];
  }

  async closePage(name) {
    const how = this.random.pick(["removed", "blank"]);
    this.say(`${name} closes: ${how}`);
    await this.pages.get(name).tab.run((name, how) => closePage(name, how), name, how);
    this.#forget(name);
    this.pages.delete(name);
  }

  async replaceTab(index) {
    this.say(`tab ${index} closes`);
    await this.judge();
    const tab = this.tabs[index];
    for (const { name } of [...this.pages.values()].filter((page) => page.tab === tab)) {
      this.#forget(name);
      this.pages.delete(name);
    }
    await tab.close();
    this.tabs[index] = await this.browser.open(`${this.server.url}host.html`);
  }

  #forget(page) {
    for (const one of [...this.open.values()].filter((one) => one.page === page)) {
      this.open.delete(one.name);
      this.#leaving.push(one.name);
    }
  }

  /** Calls a function of a page. */
  within(page, what, ...options) {
    return this.pages.get(page).tab.run((...options) => within(...options), page, what, ...options);
  }

  // Controllers

  /** Closes some of a page and opens others, at once; in between the cookie may change. */
  async exchange(page, closed, cookie, opened) {
    const show = ({ name, query, window, share, text }) =>
      `${name}: ${query}${window ? ` from ${window.offset}` : ""} ${share ?? text ?? "by cookie"}`;
    this.say(`in ${page}: closes ${closed}${cookie === null ? "" : `, cookie ${cookie}`}, opens ${opened.map(show).join(", ")}`);
    for (const name of closed) this.open.delete(name);
    for (const one of opened) this.open.set(one.name, { ...one, page });
    if (cookie !== null) this.cookie = cookie;
    await this.within(page, "exchange", closed, cookie, opened);
  }

  async openAfter(one, opened) {
    this.say(`${one.name} ends, and ${opened.map(({ name, query }) => `${name}: ${query}`).join(", ")} are opened in its page`);
    for (const another of opened) this.open.set(another.name, { ...another, page: one.page });
    await this.within(one.page, "openAfter", one.name, opened);
  }

  isLive({ name }) { return this.#watched.get(name)?.state === "live"; }

  async setCookie(page, cookie) {
    this.say(`cookie ${cookie}`);
    this.cookie = cookie;
    await this.within(page, "setCookie", cookie);
  }

  // What is shown

  /** Holds all that was noted since the last time against what there was to be seen. */
  async judge() {
    const notes = [];
    for (const tab of this.tabs) notes.push(...await tab.run(() => globalThis.notes.splice(0)));
    // The cookie is that of both tabs.
    for (const note of notes.map((note) => JSON.parse(note)).sort((a, b) => a.at - b.at)) this.#take(note);
    for (const name of this.#leaving.splice(0)) this.#watched.delete(name);
  }

  #take(note) {
    const { kind, name } = note;
    this.count(kind === "state" ? note.state : kind);
    if (kind === "token") return this.#givenBy(note.function).push(note.token);
    if (kind === "cookie") return this.#cookies.push(note.cookie);
    if (kind === "open") {
      const tokens = note.share ? this.#givenBy(note.share) : note.text ? [note.text] : this.#cookies;
      const floor = note.share ? 0 : this.#floors.get(tokens.at(-1)) ?? 0;
      return this.#watched.set(name, new Watched(note, tokens, Math.max(this.#settled, floor)));
    }
    if (kind === "closed") return this.#watched.delete(name);
    const one = this.#watched.get(name);
    one?.take(note, this.history);
    if (kind === "window") for (const token of this.#tokensOf(one)) this.#movers.add(token);
    if (one?.ending) this.#floors.set(one.ending.token, one.ending.place);
  }

  /** Those by which its stream may be open. */
  #tokensOf({ share, text, candidates }) { return share || text ? candidates : ["the cookie"]; }

  #givenBy(name) {
    if (!this.#given.has(name)) this.#given.set(name, []);
    return this.#given.get(name);
  }

  /** Waits until all that is shown is what is true now. */
  async settle() {
    let wrong = [];
    await eventually(async () => {
      await this.judge();
      wrong = [...this.#watched.values()].filter((one) => !one.isTrue(this.history));
      return !wrong.length;
    }, "all lists are true").catch((error) => {
      throw new Error(`${error.message}\n${wrong.map((one) => `${one} is ${one.state}`).join("\n")}`, { cause: error });
    });
    this.history.wasAway = false;
    for (const one of this.#watched.values()) one.settle(this.history);
    this.#settled = this.history.last;
    await this.#compareStreams();
    for (const one of [...this.#watched.values()].filter(({ isOver }) => isOver)) {
      if (this.open.has(one.name)) await this.exchange(one.page, [one.name], null, []);
    }
    this.say("all is as it should be");
    this.count("comparison of all");
  }

  /** One for each who asks, in however many pages; two where something moves. */
  async #compareStreams() {
    const live = [...this.#watched.values()].filter(({ isOver }) => !isOver);
    const pages = new Map();
    for (const one of live) {
      for (const token of this.#tokensOf(one)) {
        pages.set(token, (pages.get(token) ?? new Set()).add(one.page));
      }
    }
    if ([...pages.values()].some(({ size }) => size > 1)) this.count("pages with one stream");
    const most = [...pages.keys()].reduce((sum, token) => sum + (this.#movers.has(token) ? 2 : 1), 0);
    let streams;
    await eventually(async () => {
      const answer = await fetch(`${this.server.url}metrics`, { headers: { Authorization: "Bearer operator" } });
      streams = Number(/^didchange_streams (\S+)$/m.exec(await answer.text())?.[1]);
      return streams <= most;
    }, `${most} streams at most`).catch((error) => {
      throw new Error(`${error.message}, but ${streams}, for ${[...pages.keys()]}`, { cause: error });
    });
  }
}
