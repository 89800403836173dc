/** The chosen query on the page: its controller, table, log and figures. */

import { FetchedRecordsController } from "../didchange.js";
import { showDetails } from "./details.js";
import { byId, element } from "./dom.js";
import { beat } from "./motion.js";
import { RecordsTable } from "./table.js";
import { valueNode } from "./values.js";

/** Milliseconds between two reports: who hears of every change hears nothing else. */
const announcementInterval = 5000;


export class QueryView {
  #controller;
  #table;
  #log;
  #changesHeard = 0;
  #announcing;
  /** Those of the change set that is being given out. */
  #events = [];

  /** @param {object} query the answer of `GET /v1/queries/{query}` */
  constructor(query, parameters, log) {
    this.#log = log;
    this.#table = new RecordsTable(byId("records"), {
      columns: query.columns, section: query.section ?? null, caption: query.title ?? query.name,
    });
    this.#controller = new FetchedRecordsController(
      `v1/queries/${encodeURIComponent(query.name)}`, { parameters });
    showDetails(byId("details"), query, this.#controller.url);
    this.#listen();
    this.#showState("connecting");
  }

  close() {
    this.#controller.close();
    this.#table.remove();
    clearTimeout(this.#announcing);
  }

  #listen() {
    const on = (name, listener) =>
      this.#controller.addEventListener(name, ({ detail }) => listener(detail));
    on("state", (state) => this.#showState(state));
    on("snapshot", (snapshot) => this.#restart(snapshot));
    on("willChange", (data) => (this.#events = [{ event: "willChange", data }]));
    on("sectionChange", (data) => this.#events.push({ event: "sectionChange", data }));
    on("change", (data) => {
      this.#events.push({ event: "change", data });
      this.#table.note(data);
    });
    on("didChange", (data) => this.#finish(data));
    on("error", (problem) => {
      this.#log.add("fetch error", [{ event: "fetchError", data: problem }]);
      showProblem(problem);
    });
  }

  #restart(snapshot) {
    showProblem(null);
    this.#table.show(this.#controller.sections);
    this.#log.add(`snapshot at commit ${snapshot.commit}`, [{ event: "snapshot", data: snapshot }]);
    this.#showFigures(snapshot);
  }

  #finish(didChange) {
    showProblem(null);
    this.#table.finish(this.#controller.sections);
    this.#events.push({ event: "didChange", data: didChange });
    const count = this.#events.length - 2;
    this.#log.add(`commit ${didChange.commit} · ${counted(count, "change")}`, this.#events);
    this.#events = [];
    this.#showFigures(didChange);
    beat(byId("dot"));
    this.#announce(count);
  }

  #showState(state) {
    document.body.dataset.state = state;
    byId("state").textContent =
      state === "stale" ? "connection lost, trying again" : state;
  }

  #showFigures({ commit, alongside }) {
    byId("commit").textContent = `commit ${commit}`;
    const { numberOfRecords, sections } = this.#controller;
    const figures = [figure("records", numberOfRecords)];
    if (sections.length > 1) figures.push(figure("sections", sections.length));
    for (const [name, value] of Object.entries(alongside ?? {})) figures.push(figure(name, value));
    byId("counts").replaceChildren(...figures);
  }

  #announce(changes) {
    this.#changesHeard += changes;
    this.#announcing ??= setTimeout(() => {
      this.#announcing = undefined;
      byId("announcement").textContent =
        `${counted(this.#changesHeard, "change")}, ${this.#controller.numberOfRecords} records`;
      this.#changesHeard = 0;
    }, announcementInterval);
  }
}

/** @param {?object} problem RFC 9457; null: all is well */
export function showProblem(problem) {
  byId("problem").hidden = !problem;
  byId("problem").textContent = [problem?.title, problem?.detail].filter(Boolean).join(": ");
}

const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

function figure(name, value) {
  const shown = typeof value === "number" ? value.toLocaleString("en") : valueNode(value);
  return element("span", {}, element("b", {}, shown), ` ${name}`);
}
