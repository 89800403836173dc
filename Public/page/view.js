/** The chosen query: its list, section index, log and figures. */

import { FetchedRecordsController } from "../didchange.js";
import { bind } from "../didchange/bind.js";
import { options } from "./caller.js";
import { byId, element } from "./dom.js";
import { RowMaker } from "./rows.js";
import { cellMaker } from "./typed.js";
import { valueNode } from "./values.js";

/** So many records are in the document; so many sections need an index. */
const [shortList, manySections] = [300, 8];

const stateTexts = { stale: "connection lost", signedOut: "signed out", forbidden: "not allowed" };

export const addressOf = (name) => `v1/queries/${encodeURIComponent(name)}`;

export class QueryView {
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
  #changesHeard = 0;
  #announcing;
  #events = [];

  constructor(query, log) {
    this.query = query;
    this.#log = log;
    this.#rows = new RowMaker(query.columns, cellMaker(addressOf(query.name), query.columnTypes));
    this.controller = new FetchedRecordsController(addressOf(query.name),
      { window: { offset: 0, limit: shortList }, ...options });
    this.#listen();
    this.#showState("connecting");
  }

  /** What is shown stays until the difference is here. */
  ask({ order, ...parameters }, way) {
    showProblem(null);
    // What was refused is no way back.
    if (this.controller.state !== "closed") this.#way = way;
    Object.assign(this.controller, { parameters, order });
  }

  close() {
    this.#isClosed = true;
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
      this.#log.add(`snapshot at commit ${data.commit}`, [{ event: "snapshot", data }]);
      this.#choose();
    });
    for (const event of ["willChange", "sectionChange", "change", "didChange"]) {
      on(event, (data) => this.#events.push({ event, data }));
    }
    on("didChange", ({ commit }) => this.#finish(commit));
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
    const sections = this.#long?.sections ?? this.controller.sections;
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

  #finish(commit) {
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
