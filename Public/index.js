/** Which queries there are, which one is chosen, and what surrounds it. */

import { ask, isSignedIn, signInWith } from "./page/caller.js";
import { byId, element } from "./page/dom.js";
import { EventLog } from "./page/log.js";
import { monitor } from "./page/monitor.js";
import { readRoute, writeRoute } from "./page/route.js";
import { addressOf, QueryView, showProblem } from "./page/view.js";

const log = new EventLog(byId("log"), (groups) => {
  byId("held").textContent = groups > 0 ? `${groups} held` : "";
});
let view = null;
/** Grows with each choice: an answer that comes later is dropped. */
let choice = 0;
/** Whether what may be read depends on who asks. */
let hasCallers = false;

const isBarred = (state) => state === "signedOut" || state === "forbidden";

async function get(address) {
  const response = await ask(address);
  const body = await response.json();
  hasCallers = /\bauthorization\b/i.test(response.headers.get("Vary"));
  byId("who").hidden = !hasCallers;
  byId("who").textContent = isSignedIn() ? "Sign out" : "Sign in";
  if (!response.ok) throw Object.assign(new Error(body.detail), { problem: body });
  return body;
}

/** Tries again what may mend itself. */
function showFailure({ problem }, again) {
  showProblem(problem ?? { title: "The server does not answer; trying again." });
  if (problem?.status === 401) askWho();
  else if (!(problem?.status < 500)) setTimeout(again, 2000);
}

/** A token that was refused is forgotten, and so is what it let in. */
async function askWho() {
  if (isSignedIn()) {
    signInWith("");
    listQueries().catch(() => {});
  }
  const { showSignIn } = await import("./page/signIn.js");
  showSignIn(byId("signIn"), signIn);
}

function signIn(token) {
  signInWith(token);
  leave();
  readMetrics();
  showQueries();
}

async function showQueries() {
  try {
    const queries = await listQueries();
    if (!readRoute(location.hash) && queries.length > 0) {
      history.replaceState(null, "", writeRoute({ query: queries[0].name, parameters: {} }));
    }
    showProblem(queries.length > 0 ? null
      : { title: hasCallers ? "Here is nothing that you may read." : "This server has no queries." });
    if (hasCallers && queries.length === 0 && !isSignedIn()) askWho();
    await choose();
  } catch (error) {
    showFailure(error, showQueries);
  }
}

async function listQueries() {
  const { queries } = await get("v1/queries");
  byId("queries").replaceChildren(...queries.map(queryLink));
  return queries;
}

function queryLink({ name, title }) {
  const link = element("a", { href: writeRoute({ query: name, parameters: {} }) },
    element("span", { className: "title" }, title ?? name));
  if (title && title !== name) link.append(element("code", {}, name));
  link.dataset.query = name;
  return element("li", {}, link);
}

async function choose({ oldURL } = {}) {
  const route = readRoute(location.hash);
  if (!route) return;
  const mine = ++choice;
  // The same query goes on from what it shows.
  const isSame = view?.query.name === route.query && !isBarred(view.controller.state);
  if (!isSame) leave(route.query);
  try {
    const query = isSame ? view.query : await get(addressOf(route.query));
    const { showForm } =
      query.parameters.length > 0 || query.orders ? await import("./page/parameters.js") : {};
    if (mine !== choice) return;
    open(query, route.parameters, showForm?.(byId("parameters"), query, route.parameters), oldURL);
  } catch (error) {
    if (mine === choice) showFailure(error, () => mine === choice && choose());
  }
}

/** Takes away what was shown; the form only if the next query is another one. */
function leave(next) {
  view?.close();
  view = null;
  log.clear();
  showProblem(null);
  for (const id of ["records", "counts", "commit", "state"]) byId(id).replaceChildren();
  for (const id of ["empty", "index", "about", "signIn"]) byId(id).hidden = true;
  delete document.body.dataset.state;
  for (const link of byId("queries").querySelectorAll("a")) {
    link.ariaCurrent = link.dataset.query === next ? "page" : null;
    if (link.ariaCurrent) link.scrollIntoView();
  }
  if (byId("parameters").dataset.query !== next) byId("parameters").hidden = true;
  byId("title").textContent = next;
}

function open(query, parameters, missing = [], way = undefined) {
  if (missing.length > 0) leave(query.name);
  byId("title").textContent = query.title ?? query.name;
  document.title = `${query.title ?? query.name} — didchange`;
  if (query.problem) return showProblem({ title: query.problem });
  if (missing.length > 0) return showProblem({ title: `Fill in ${missing.join(", ")} to see records.` });
  if (!view) {
    view = new QueryView(query, log);
    view.controller.addEventListener("state", ({ detail }) => isBarred(detail) && bar(detail));
    byId("about").hidden = false;
  }
  view.ask(parameters, way);
  showDetails();
}

/** The log shows records too. */
function bar(state) {
  log.clear();
  byId("about").hidden = true;
  if (state === "signedOut") askWho();
}

async function showDetails() {
  if (!byId("about").open || !view) return;
  const [{ fillDetails }, query] =
    await Promise.all([import("./page/details.js"), get(addressOf(view.query.name))]);
  if (view?.query.name === query.name) fillDetails(byId("details"), query, view.controller.url, isSignedIn());
}

function onToggle(id, act) {
  byId(id).addEventListener("click", ({ currentTarget: button }) => {
    button.ariaPressed = String(button.ariaPressed !== "true");
    act(button.ariaPressed === "true");
  });
}

onToggle("pause", (isPaused) => (log.isPaused = isPaused));
onToggle("showEvents", (isOn) => document.body.classList.toggle("events-only", isOn));
byId("clear").addEventListener("click", () => log.clear());
byId("about").addEventListener("toggle", showDetails);
byId("who").addEventListener("click", () => (isSignedIn() ? signIn("") : askWho()));
addEventListener("hashchange", choose);
const readMetrics = monitor(ask);
showQueries();
