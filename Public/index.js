/** The page: which queries there are, which one is chosen, and what surrounds it. */

import { byId, element } from "./page/dom.js";
import { EventLog } from "./page/log.js";
import { missingParameters, showParameters } from "./page/parameters.js";
import { readRoute, writeRoute } from "./page/route.js";
import { QueryView, showProblem } from "./page/view.js";

/** Milliseconds until the page asks again for what the server did not answer. */
const retryInterval = 2000;

const log = new EventLog(byId("log"), showHeld);
/** @type {?QueryView} */
let view = null;
/** Grows with each choice: an answer that comes after the next choice is dropped. */
let choice = 0;

async function get(address) {
  const response = await fetch(address);
  const body = await response.json();
  if (!response.ok) throw Object.assign(new Error(body.detail), { problem: body });
  return body;
}

async function showQueries() {
  try {
    const { queries } = await get("v1/queries");
    byId("queries").replaceChildren(...queries.map(queryLink));
    if (!readRoute(location.hash) && queries.length > 0) {
      history.replaceState(null, "", writeRoute({ query: queries[0].name, parameters: {} }));
    }
    showProblem(queries.length > 0 ? null : { title: "This server has no queries." });
    await choose();
  } catch (error) {
    showProblem(error.problem ?? { title: "The server does not answer; trying again." });
    setTimeout(showQueries, retryInterval);
  }
}

function queryLink({ name, title }) {
  const link = element("a", { href: writeRoute({ query: name, parameters: {} }) },
    element("span", { className: "title" }, title ?? name));
  if (title && title !== name) link.append(element("code", {}, name));
  link.dataset.query = name;
  return element("li", {}, link);
}

async function choose() {
  const route = readRoute(location.hash);
  if (!route) return;
  const mine = ++choice;
  leave(route.query);
  try {
    const query = await get(`v1/queries/${encodeURIComponent(route.query)}`);
    if (mine === choice) open(query, route.parameters);
  } catch (error) {
    if (mine !== choice) return;
    showProblem(error.problem ?? { title: "The server does not answer; trying again." });
    if (!(error.problem?.status < 500)) setTimeout(() => mine === choice && choose(), retryInterval);
  }
}

/** Takes away what was shown; the form and the details only if the next query is another one. */
function leave(next) {
  view?.close();
  view = null;
  log.clear();
  showProblem(null);
  for (const id of ["records", "counts", "commit", "state"]) byId(id).replaceChildren();
  delete document.body.dataset.state;
  markChosen(next);
  if (byId("parameters").dataset.query === next) return;
  byId("title").textContent = next;
  byId("about").hidden = byId("parameters").hidden = true;
}

function open(query, parameters) {
  const title = query.title ?? query.name;
  document.title = `${title} — didchange`;
  byId("title").textContent = title;
  byId("about").hidden = false;
  showParameters(byId("parameters"), query, parameters, (filledIn) => {
    location.hash = writeRoute({ query: query.name, parameters: filledIn });
  });
  const missing = missingParameters(query.parameters, parameters);
  if (query.problem) showProblem({ title: query.problem });
  else if (missing.length > 0) showProblem({ title: `Fill in ${missing.join(", ")} to see records.` });
  else view = new QueryView(query, parameters, log);
}

function markChosen(name) {
  for (const link of byId("queries").querySelectorAll("a")) {
    const chosen = link.dataset.query === name;
    if (chosen) link.ariaCurrent = "page";
    else link.removeAttribute("aria-current");
    if (chosen) link.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

function showHeld(groups) {
  byId("held").textContent = groups > 0 ? `${groups} held` : "";
}

byId("pause").addEventListener("click", ({ currentTarget }) => {
  log.paused = !log.paused;
  currentTarget.ariaPressed = String(log.paused);
  currentTarget.textContent = log.paused ? "Resume" : "Pause";
});
byId("clear").addEventListener("click", () => log.clear());
for (const button of document.querySelectorAll(".views button")) {
  button.addEventListener("click", () => {
    document.body.dataset.view = button.dataset.view;
    for (const other of document.querySelectorAll(".views button")) {
      other.ariaPressed = String(other === button);
    }
  });
}
addEventListener("hashchange", choose);
showQueries();
