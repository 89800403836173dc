/** The chosen query: its list, section index, log and figures. */

import { FetchedRecordsController } from "../didchange.js";
import { bind } from "../didchange/bind.js";
import { isSignedIn, options } from "./caller.js";
import { byId, element } from "./dom.js";
import { historyOf } from "./history.js";
import { writeRoute } from "./route.js";
import { RowMaker } from "./rows.js";
import { RowKeys } from "./rowKeys.js";
import { cellMaker } from "./typed.js";
import { valueNode } from "./values.js";

/** So many records are in the document; so many sections need an index. */
const [shortList, manySections] = [300, 8];

const stateTexts = { stale: "connection lost", signedOut: "signed out", forbidden: "not allowed" };

export const addressOf = (name) => `v1/queries/${encodeURIComponent(name)}`;

/** `drawn`: the list shows what the controller has. `close`: what it has shown is over. */
export class QueryView extends EventTarget {
  #log;
  #rows;
  /** A VirtualList, where not all rows are in the document. */
  #long = null;
  #index = null;
  #isClosed = false;
  #binding;
  /** Where what is shown was asked for, when something else is. */
  #way;
  /** Whether what is told to be wrong is over as soon as the server is there again. */
  #isTroubled = false;
  /** Where the records that are loaded begin in the whole result, and the commit that they are of. */
  offset = 0;
  #commit = 0;
  #keys;
  #changesHeard = 0;
  #announcing;
  #events = [];

  constructor(query, log) {
    super();
    this.query = query;
    this.#log = log;
    this.controller = new FetchedRecordsController(addressOf(query.name),
      { window: { offset: 0, limit: shortList }, ...options });
    this.#rows = new RowMaker(query, this.cells(24), (order) => this.#sort(order));
    this.#keys = new RowKeys(byId("records"), ({ record }) => this.#show(record));
    this.#listen();
    this.#showState("connecting");
  }

  get title() { return this.query.title ?? this.query.name; }

  /** @param height of pictures, in pixels */
  cells(height) {
    const { name, columnTypes } = this.query;
    const ask = isSignedIn() ? (url) => this.controller.fetch(new URL(url, document.baseURI)) : null;
    return cellMaker(addressOf(name), columnTypes, ask, height);
  }

  /** The sections of the whole result. */
  get sections() {
    return this.#long?.sections
      ?? this.controller.sections.map(({ name, records }) => ({ name, numberOfRecords: records.length }));
  }

  async #show(record) {
    const { showRecord } = await import("./record.js");
    if (!this.#isClosed) showRecord(this, record);
  }

  #sort(order) {
    const { query: { name, orders }, controller: { parameters } } = this;
    location.hash = writeRoute({ query: name, parameters: order === orders[0] ? parameters : { ...parameters, order } });
  }

  /** What is shown stays until the difference is here. */
  ask({ order, ...parameters }, way) {
    showProblem(null);
    this.#rows.showOrder(order ?? this.query.orders?.[0]);
    // What was refused is no way back.
    if (this.controller.state !== "closed") this.#way = way;
    Object.assign(this.controller, { parameters, order });
  }

  close() {
    this.#isClosed = true;
    this.dispatchEvent(new Event("close"));
    this.#keys.close();
    this.#binding?.abort();
    this.#long?.close();
    this.controller.close();
    clearTimeout(this.#announcing);
  }

  #listen() {
    const on = (name, listener) =>
      this.controller.addEventListener(name, ({ detail }) => listener(detail));
    on("state", (state) => {
      this.#showState(state);
      if (state === "live" && this.#isTroubled) showProblem(null);
    });
    on("snapshot", (data) => {
      showProblem(null);
      this.#log.add(`snapshot at commit ${data.commit}`, [{ event: "snapshot", data }], "opening");
      this.#arrived(data);
      this.#choose();
    });
    for (const event of ["willChange", "sectionChange", "change", "didChange"]) {
      on(event, (data) => this.#events.push({ event, data }));
    }
    on("didChange", (data) => this.#finish(data));
    for (const event of ["error", "recovered"]) {
      on(event, (data) => {
        this.#log.add(event, [{ event, data }]);
        this.#isTroubled = !("query" in data);
        showProblem(event === "error" ? data : null, data.status === 400 && this.#way);
      });
    }
  }

  /** Of a long list only what is in sight stands in the document. */
  #choose() {
    const { controller, query: { section, title, name } } = this;
    const isLong = controller.totalNumberOfRecords > shortList;
    const pane = byId("records");
    this.#rows.measure(pane, controller.fetchedRecords);
    if (this.#long || (this.#binding && !isLong)) return;
    this.#binding?.abort();
    const { signal } = this.#binding = new AbortController();
    const options =
      { ...this.#rows, label: title ?? name, signal, drawn: () => this.#drawn() };
    if (isLong) return this.#showLong(pane, options);
    const list = element("div", { role: "rowgroup" });
    Object.assign(pane, { role: "table", ariaLabel: options.label, tabIndex: 0, scrollTop: 0 });
    pane.replaceChildren(this.#rows.head, list);
    bind(controller, list, { ...options, section: section ? options.section : undefined });
  }

  async #showLong(pane, options) {
    this.#long = { close() {} };
    const { longList } = await import("./long.js");
    if (!this.#isClosed) this.#long = longList(pane, this, options);
  }

  #drawn() {
    const { numberOfRecords, totalNumberOfRecords, commit, alongside } = this.controller;
    const { sections } = this;
    this.#keys.drawn();
    this.dispatchEvent(new Event("drawn"));
    byId("empty").hidden = totalNumberOfRecords > 0;
    byId("commit").textContent = `commit ${commit}`;
    const figures = [["records", this.#long?.numberOfRecords ?? numberOfRecords]];
    if (sections.length > 1) figures.push(["sections", sections.length]);
    byId("counts").replaceChildren(...[...figures, ...Object.entries(alongside)].map(figure));
    if (this.#index) this.#index.update();
    else if (sections.length >= manySections) this.#showIndex();
  }

  async #showIndex() {
    this.#index = { update() {} };
    const { indexOf } = await import("./long.js");
    if (this.#isClosed) return;
    this.#index = indexOf(this.#long, this);
    this.#index.update();
  }

  #arrived({ window, commit }) {
    this.offset = window?.offset ?? 0;
    this.#commit = commit;
  }

  #finish(data) {
    const { commit } = data;
    // What another order, other parameters or another part of the list differ in, did not happen.
    const changes = commit > this.#commit ? this.#events.filter(({ event }) => event === "change") : [];
    for (const { data } of changes) historyOf(this.query.name).note(data, commit);
    this.#arrived(data);
    showProblem(null);
    this.#choose();
    const count = this.#events.length - 2;
    this.#log.add(`commit ${commit} · ${counted(count, "change")}`, this.#events.splice(0));
    this.#changesHeard += count;
    // Who hears of every change hears nothing else.
    this.#announcing ??= setTimeout(() => {
      this.#announcing = undefined;
      byId("announcement").textContent =
        `${counted(this.#changesHeard, "change")}, ${this.controller.totalNumberOfRecords} records`;
      this.#changesHeard = 0;
    }, 5000);
  }

  #showState(state) {
    document.body.dataset.state = state;
    // A record that is open may not be seen any more.
    if (state === "signedOut" || state === "forbidden") this.dispatchEvent(new Event("close"));
    byId("state").textContent = stateTexts[state] ?? state;
  }
}

export function showProblem(problem, way) {
  byId("problem").hidden = !problem;
  byId("problem").replaceChildren([problem?.title, problem?.detail].filter(Boolean).join(": "),
    ...way ? [" ", element("a", { href: way }, "Back to what is shown")] : []);
}

const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

function figure([name, value]) {
  const shown = typeof value === "number" ? value.toLocaleString("en") : valueNode(value);
  return element("span", {}, element("b", {}, shown), ` ${name}`);
}
