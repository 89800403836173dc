/** Which queries there are, which one is chosen or explored, and what surrounds it. */

import { ask, isSignedIn, signInWith } from "./page/caller.js";
import { byId, element } from "./page/dom.js";
import { forgetHistories } from "./page/history.js";
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
/** Whether the server takes any SELECT, and what in the address is none of its queries but that. */
let explores = false;
const exploring = "explore:";

const isBarred = (state) => state === "signedOut" || state === "forbidden";

async function get(address, init) {
  const response = await ask(address, init);
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
  forgetHistories();
  // What closes with it is not asked for again.
  ++choice;
  leave();
  readMetrics();
  showQueries();
}

async function showQueries() {
  try {
    const queries = await listQueries();
    if (!readRoute(location.hash) && queries.length === 0 && explores) location.replace(byId("explore").href);
    if (!readRoute(location.hash) && queries.length > 0) {
      history.replaceState(null, "", writeRoute({ query: queries[0].name, parameters: {} }));
    }
    showProblem(queries.length > 0 || explores ? null
      : { title: hasCallers ? "Here is nothing that you may read." : "This server has no queries." });
    if (hasCallers && queries.length === 0 && !isSignedIn()) askWho();
    await choose();
  } catch (error) {
    showFailure(error, showQueries);
  }
}

async function listQueries() {
  const { queries, explore = false } = await get("v1/queries");
  byId("queries").replaceChildren(...queries.map(queryLink));
  explores = explore;
  byId("explore").hidden = !explores;
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
  if (route.query === exploring) return explore(route.parameters.sql ?? "");
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

async function explore(sql) {
  const mine = ++choice;
  const isLeft = () => mine !== choice;
  leave(exploring);
  byId("title").textContent = "Explore";
  document.title = "Explore — didchange";
  if (!explores) {
    showProblem({ title: hasCallers ? "Only operators explore here." : "Nobody explores here: the server was not told --explore." });
    return hasCallers && !isSignedIn() && askWho();
  }
  const explorer = await import("./page/explorer.js");
  const fail = (error, again) => showFailure(error, () => isLeft() || again());
  if (!isLeft()) explorer.explore(sql, { get, open, fail, isLeft });
}

/** Takes away what was shown; the form only if the next query is another one. */
function leave(next) {
  view?.close();
  view = null;
  log.clear();
  showProblem(null);
  for (const id of ["records", "counts", "commit", "state"]) byId(id).replaceChildren();
  for (const id of ["empty", "index", "about", "signIn", "explorer"]) byId(id).hidden = true;
  delete document.body.dataset.state;
  for (const link of document.querySelectorAll(".queries [data-query]")) {
    link.ariaCurrent = link.dataset.query === next ? "page" : null;
    if (link.ariaCurrent) link.scrollIntoView();
  }
  if (byId("parameters").dataset.query !== next) byId("parameters").hidden = true;
  byId("title").textContent = next;
}

function open(query, parameters = {}, missing = [], way = undefined) {
  if (missing.length > 0) leave(query.name);
  byId("title").textContent = query.title ?? query.name;
  document.title = `${query.title ?? query.name} — didchange`;
  if (query.problem) return showProblem({ title: query.problem });
  if (missing.length > 0) return showProblem({ title: `Fill in ${missing.join(", ")} to see records.` });
  if (!view) {
    view = new QueryView(query, log);
    view.controller.addEventListener("state", ({ detail }) => {
      if (isBarred(detail)) bar(detail);
      // Among its users is this page now.
      if (detail === "live") showDetails();
    });
    byId("about").hidden = false;
  }
  view.ask(parameters, way);
  showDetails();
  return view;
}

/** The log and what is known of the past show records too. */
function bar(state) {
  log.clear();
  forgetHistories();
  byId("about").hidden = true;
  if (state === "signedOut") askWho();
}

let readings = 0;

async function showDetails() {
  if (!byId("about").open || !view) return;
  const reading = ++readings;
  const [{ fillDetails }, query] =
    await Promise.all([import("./page/details.js"), get(addressOf(view.query.name))]);
  // What was asked before and comes last is not shown.
  if (view?.query.name !== query.name || reading !== readings) return;
  const explorer = explores ? await import("./page/explore.js") : null;
  fillDetails(byId("details"), { ...query, explored: view.query.explored }, view.controller.url, isSignedIn(), explorer);
}

function onToggle(id, act) {
  byId(id).addEventListener("click", ({ currentTarget: button }) => {
    button.ariaPressed = String(button.ariaPressed !== "true");
    act(button.ariaPressed === "true");
  });
}

onToggle("pause", (isPaused) => (log.isPaused = isPaused));
onToggle("showEvents", (isOn) => document.body.classList.toggle("events-shown", isOn));
byId("clear").addEventListener("click", () => log.clear());
byId("about").addEventListener("toggle", showDetails);
byId("who").addEventListener("click", () => (isSignedIn() ? signIn("") : askWho()));
addEventListener("hashchange", choose);
const readMetrics = monitor(ask);
showQueries();
