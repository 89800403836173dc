// Who asks, in a real browser on a real server: tokens and cookies of a table of sessions.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { eventually, noServer, Server } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";
import { copyReact, noReact, reactHead, reactModule } from "./support/react.mjs";
import { noBrowser } from "./support/webdriver.mjs";

const digest = (token) => createHash("sha256").update(token).digest("hex");

const sql = `
  CREATE TABLE session (token TEXT PRIMARY KEY, user INTEGER, role TEXT);
  CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer INTEGER, title TEXT);
  CREATE TABLE notice (id INTEGER PRIMARY KEY, title TEXT);
  INSERT INTO notice VALUES (1, 'Welcome');
  INSERT INTO purchase VALUES (1, 7, 'Apples'), (2, 7, 'Bread'), (3, 8, 'Cheese');
  INSERT INTO session VALUES ${["ada", "ada-2", "ada-3", "ada-4", "ada-cookie", "ada-page"].map((token) => `('${digest(token)}', 7, 'customer')`)},
    ('${digest("bob")}', 8, 'customer'), ('${digest("root")}', 1, 'admin');`;

const configuration = (database, origin) => `
database: ${database}
callers:
  opaque: true
  cookie: session
  claims: SELECT user, role FROM session WHERE token = :token
  operators: {role: admin}
cors: ["${origin}"]
queries:
  notices: {table: notice, order: [id], allow: anyone}
  purchases:
    title: Purchases
    table: purchase
    where: customer = :customer
    order: [id]
    parameters: {customer: {type: integer, claim: user}}
  everything: {table: purchase, order: [id], allow: {role: [admin]}}
`;

const page = (script) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Callers</title>
<link rel="icon" href="favicon.svg"><ul></ul><script type="module">${script}</script></html>`;

/** Opens a controller in the page, in `globalThis.all`; tokens are given in turn. */
const script = `
import { FetchedRecordsController } from "./didchange.js";
globalThis.all = {};
globalThis.openOne = (name, query, tokens, more = {}) => {
  const reasons = [];
  const token = tokens && (async ({ expired }) => (reasons.push(expired), tokens.shift()));
  const controller = new FetchedRecordsController(query, { token, ...more });
  const problems = [];
  controller.addEventListener("error", ({ detail }) => problems.push(detail));
  all[name] = { controller, reasons, problems };
};
globalThis.opened = true;
`;

/** An element whose token was there before its class, and a component that makes a function each time. */
const parts = `
document.querySelector("ul").outerHTML = '<didchange-list src="v1/queries/purchases"><template><i data-column="title"></i></template></didchange-list><p></p>';
document.querySelector("didchange-list").token = async () => "ada-3";
await import("./didchange/element.js");
const { useFetchedRecords } = await import("./didchange/react.js");
globalThis.drawn = 0;
globalThis.asked = 0;
function Purchases() {
  const { sections, state } = useFetchedRecords("v1/queries/purchases", {}, null, { token: async () => (asked++, "bob") });
  drawn++;
  return state + ": " + sections.flatMap(({ records }) => records).map(({ title }) => title).join(" ");
}
ReactDOM.createRoot(document.querySelector("p")).render(React.createElement(Purchases));
`;

/** `state: titles` of a controller. */
const shown = (name, expected) => {
  const { controller } = all[name];
  const text = `${controller.state}: ${controller.fetchedRecords.map(({ title }) => title).join(" ")}`;
  return expected === undefined ? text : text === expected;
};

describe("callers in a browser", { skip: noBrowser || noServer, timeout: 600_000 }, () => {
  let browser, database, server, other;

  stage({
    browser: true, sql, options: ["--access-log", "json", "--log-level", "debug"],
    async configuration(path, made) {
      other = made.keep(await new Server([], { env: made.env }).start());
      return configuration(path, other.url.slice(0, -1));
    },
    pages: {
      "callers.html": page(script),
      "alone.html": `<script>delete globalThis.SharedWorker</script>${page(script)}`,
      "react-module.js": reactModule,
      "parts.html": `<!doctype html>${reactHead}${page(parts)}`,
    },
    files: (folder) => noReact || copyReact(folder),
  }, (made) => ({ browser, database, server } = made));

  async function open(t, path = "callers.html", base = server.url) {
    const tab = await browser.open(base + path);
    t.after(() => tab.close());
    if (["callers.html", "alone.html"].includes(path)) await tab.until(() => globalThis.opened);
    return tab;
  }

  const start = (tab, ...options) => tab.run((...options) => openOne(...options), ...options);
  const streams = async () => {
    const answer = await fetch(`${server.url}metrics`, { headers: { Authorization: "Bearer root" } });
    return Number(/^didchange_streams (\S+)$/m.exec(await answer.text())?.[1]);
  };
  const signOut = (token) => database.run(`DELETE FROM session WHERE token = '${digest(token)}'`);
  const signIn = (token, user) => database.run(`INSERT INTO session VALUES ('${digest(token)}', ${user}, 'customer')`);

  test("two callers in one browser see their own, live", async (t) => {
    const [tab, second] = [await open(t), await open(t)];
    await start(tab, "ada", "v1/queries/purchases", ["ada"]);
    await start(second, "bob", "v1/queries/purchases", ["bob"]);
    await start(second, "nobody", "v1/queries/notices");
    await tab.until(shown, "ada", "live: Apples Bread");
    await second.until(shown, "bob", "live: Cheese");
    await second.until(shown, "nobody", "live: Welcome");
    database.run("INSERT INTO purchase VALUES (4, 8, 'Dates')");
    await second.until(shown, "bob", "live: Cheese Dates");
    assert.equal(await tab.run(shown, "ada"), "live: Apples Bread");
    database.run("DELETE FROM purchase WHERE id = 4");
    // The same token in another tab: one stream for both.
    await start(second, "ada", "v1/queries/purchases", ["ada"]);
    await second.until(shown, "ada", "live: Apples Bread");
    await eventually(async () => (await streams()) === 3, "a stream for each of Ada, Bob and nobody");
  });

  test("more callers than a browser has connections take turns", async (t) => {
    const tab = await open(t);
    const many = Array.from({ length: 7 }, (_, n) => `guest-${n}`);
    for (const token of many) {
      signIn(token, 7);
      await start(tab, token, "v1/queries/purchases", [token]);
    }
    for (const token of many) await tab.until(shown, token, "live: Apples Bread");
    database.run("INSERT INTO purchase VALUES (5, 7, 'Eggs')");
    for (const token of many) await tab.until(shown, token, "live: Apples Bread Eggs");
    // Those who are left have streams again.
    await tab.run((names) => names.forEach((name) => all[name].controller.close()), many.slice(3));
    database.run("DELETE FROM purchase WHERE id = 5");
    for (const token of many.slice(0, 3)) await tab.until(shown, token, "live: Apples Bread");
    await eventually(async () => (await streams()) === 3, "a stream for each who is left");
    assert.equal(await tab.run(() => all["guest-0"].controller.transport), "stream");
  });

  test("who signs out has nothing left, at once and in every tab", async (t) => {
    const tabs = [await open(t), await open(t)];
    for (const tab of tabs) await start(tab, "ada", "v1/queries/purchases", ["ada-2", "ada-2"]);
    for (const tab of tabs) await tab.until(shown, "ada", "live: Apples Bread");
    signOut("ada-2");
    for (const tab of tabs) {
      await tab.until(shown, "ada", "signedOut: ");
      const [problem] = await tab.run(() => all.ada.problems);
      assert.equal(problem.status, 401);
      assert.ok(problem.detail.length > 0);
      assert.ok(!JSON.stringify(problem).includes("ada-2"));
      assert.deepEqual(await tab.run(() => all.ada.reasons), [false, true]);
    }
  });

  test("another token takes over from one that is over", async (t) => {
    const tab = await open(t);
    signIn("short", 7);
    await start(tab, "ada", "v1/queries/purchases", ["short", "ada-3"]);
    await tab.until(shown, "ada", "live: Apples Bread");
    signOut("short");
    await tab.until(() => all.ada.reasons.length === 2);
    await tab.until(shown, "ada", "live: Apples Bread");
    assert.deepEqual(await tab.run(() => all.ada.problems), []);
    database.run("UPDATE purchase SET title = 'Avocados' WHERE id = 1");
    await tab.until(shown, "ada", "live: Avocados Bread");
    database.run("UPDATE purchase SET title = 'Apples' WHERE id = 1");
    await tab.until(shown, "ada", "live: Apples Bread");
  });

  test("an element and a React hook say who asks", { skip: noReact }, async (t) => {
    const tab = await open(t, "parts.html");
    await tab.until(() => document.querySelector("didchange-list")?.innerText.replace(/\s+/g, " ").trim() === "Apples Bread");
    await tab.until(() => document.querySelector("p").textContent === "live: Cheese");
    const drawn = await tab.run(() => globalThis.drawn);
    assert.ok(drawn < 10, `drawn ${drawn} times`);
    assert.equal(await tab.run(() => globalThis.asked), 1);
    await tab.run(() => (document.querySelector("didchange-list").token = async () => "bob"));
    await tab.until(() => document.querySelector("didchange-list").innerText.trim() === "Cheese");
  });

  test("what is not allowed says so, and does not spoil what is", async (t) => {
    const tab = await open(t);
    await tab.run(() => {
      const token = async () => "ada-3";
      openOne("all", "v1/queries/everything", null, { token });
      openOne("mine", "v1/queries/purchases", null, { token });
    });
    await tab.until(shown, "all", "forbidden: ");
    await tab.until(shown, "mine", "live: Apples Bread");
    assert.equal(await tab.run(() => all.all.problems[0].status), 403);
  });

  test("a role that is taken away ends what it let in", async (t) => {
    const tab = await open(t);
    database.run(`INSERT INTO session VALUES ('${digest("clerk")}', 7, 'admin')`);
    await tab.run(() => {
      const token = async () => "clerk";
      openOne("all", "v1/queries/everything", null, { token });
      openOne("mine", "v1/queries/purchases", null, { token });
    });
    await tab.until(shown, "all", "live: Apples Bread Cheese");
    await tab.until(shown, "mine", "live: Apples Bread");
    database.run(`UPDATE session SET role = 'customer' WHERE token = '${digest("clerk")}'`);
    await tab.until(shown, "all", "forbidden: ");
    await tab.until(shown, "mine", "live: Apples Bread");
    // Another user's claims: the stream goes on with the difference.
    database.run(`UPDATE session SET user = 8 WHERE token = '${digest("clerk")}'`);
    await tab.until(shown, "mine", "live: Cheese");
  });

  test("a server that restarts is come back to", async (t) => {
    const tab = await open(t);
    await start(tab, "ada", "v1/queries/purchases", ["ada-3"]);
    await tab.until(shown, "ada", "live: Apples Bread");
    await server.stop("SIGKILL");
    await tab.until(shown, "ada", "stale: Apples Bread");
    database.run("UPDATE purchase SET title = 'Buns' WHERE id = 2");
    await server.start();
    await tab.until(shown, "ada", "live: Apples Buns");
    assert.deepEqual(await tab.run(() => all.ada.reasons), [false]);
    database.run("UPDATE purchase SET title = 'Bread' WHERE id = 2");
  });

  test("a cookie goes by itself, also to another origin where both want it", async (t) => {
    const tab = await open(t);
    await tab.run(() => (document.cookie = "session=ada-cookie"));
    await start(tab, "ada", "v1/queries/purchases");
    await tab.until(shown, "ada", "live: Apples Bread");
    // Another port is another origin of the same site: the cookie is the same.
    const foreign = await open(t, "callers.html", other.url);
    await start(foreign, "with", `${server.url}v1/queries/purchases`, null, { withCredentials: true });
    await foreign.until(shown, "with", "live: Apples Bread");
    await start(foreign, "without", `${server.url}v1/queries/purchases`);
    await foreign.until(shown, "without", "signedOut: ");
    await start(foreign, "token", `${server.url}v1/queries/purchases`, ["bob"]);
    await foreign.until(shown, "token", "live: Cheese");
    signOut("ada-cookie");
    await tab.until(shown, "ada", "signedOut: ");
    await foreign.until(shown, "with", "signedOut: ");
    await tab.run(() => (document.cookie = "session=; max-age=0"));
  });

  test("without a SharedWorker tokens and cookies say who asks too, of each page by itself", async (t) => {
    for (const token of ["solo", "solo-2", "solo-cookie"]) signIn(token, 7);
    const tab = await open(t, "alone.html");
    assert.equal(await tab.run(() => typeof SharedWorker), "undefined");
    const before = await streams();
    await start(tab, "ada", "v1/queries/purchases", ["solo", "solo-2"]);
    await start(tab, "bob", "v1/queries/purchases", ["bob"]);
    await tab.until(shown, "ada", "live: Apples Bread");
    await tab.until(shown, "bob", "live: Cheese");
    await eventually(async () => (await streams()) === before + 2, "a stream for each of both");
    signOut("solo");
    await tab.until(() => all.ada.reasons.length === 2);
    database.run("UPDATE purchase SET title = 'Avocados' WHERE id = 1");
    await tab.until(shown, "ada", "live: Avocados Bread");
    database.run("UPDATE purchase SET title = 'Apples' WHERE id = 1");
    assert.deepEqual(await tab.run(() => [...all.ada.reasons, ...all.ada.problems]), [false, true]);
    const foreign = await open(t, "alone.html", other.url);
    await foreign.run(() => { document.cookie = "session=solo-cookie"; });
    await start(foreign, "with", `${server.url}v1/queries/purchases`, null, { withCredentials: true });
    await foreign.until(shown, "with", "live: Apples Bread");
    await start(foreign, "without", `${server.url}v1/queries/purchases`);
    await foreign.until(shown, "without", "signedOut: ");
    await start(foreign, "token", `${server.url}v1/queries/purchases`, ["bob"]);
    await foreign.until(shown, "token", "live: Cheese");
    signOut("solo-cookie");
    await foreign.until(shown, "with", "signedOut: ");
    await foreign.until(shown, "token", "live: Cheese");
    await foreign.run(() => { document.cookie = "session=; max-age=0"; });
  });

  const names = () => [...document.querySelectorAll("#records .record [role=cell]:last-child")].map((cell) => cell.textContent).join(" ");
  const pageShows = (expected) => document.body.dataset.state === "live"
    && [...document.querySelectorAll("#records .record [role=cell]:last-child")].map((cell) => cell.textContent).join(" ") === expected;

  test("the page asks for a token where it needs one, and forgets it when it is over", async (t) => {
    const tab = await open(t, "#purchases");
    await tab.until(() => !document.getElementById("signIn").hidden && document.querySelector("#signIn input"));
    assert.equal(await tab.run(() => document.querySelector("#signIn input").type), "password");
    assert.match(await tab.run(() => document.getElementById("problem").textContent), /token/i);
    await tab.press("#signIn input", "wrong\uE007");
    await tab.until(() => document.getElementById("problem").checkVisibility() && !document.getElementById("signIn").hidden
      && document.querySelector("#signIn input").value === "");
    await tab.press("#signIn input", "ada-page\uE007");
    await tab.until(pageShows, "Apples Bread");
    assert.equal(await tab.run(() => document.getElementById("signIn").hidden), true);
    assert.equal(await tab.run(() => document.getElementById("parameters").hidden), true, "its value is a claim");
    assert.deepEqual(await tab.run(() => [...document.querySelectorAll("#queries a")].map(({ dataset }) => dataset.query)),
      ["notices", "purchases"]);
    assert.equal(await tab.run(() => document.querySelector(".charts").hidden), true, "operators only");
    await tab.go(`${server.url}?again#purchases`);
    await tab.until(pageShows, "Apples Bread");
    const another = await open(t, "#purchases");
    await another.until(() => !document.getElementById("signIn").hidden);
    assert.equal(await another.run(() => sessionStorage.length + localStorage.length), 0);
    signOut("ada-page");
    await tab.until(() => document.body.dataset.state === "signedOut" && !document.getElementById("signIn").hidden);
    await eventually(async () => (await tab.run(names)) === "", "the list is gone");
    assert.equal(await tab.run(() => sessionStorage.length), 0);
    assert.equal(await tab.run(() => document.getElementById("state").textContent), "signed out");
    await tab.until(() => document.querySelectorAll("#queries a").length === 1);
    assert.ok(!(await tab.run(() => document.body.textContent)).includes("Apples"), "nor is it in the log");
  });

  test("the page shows what anyone may read, and more to who signs in", async (t) => {
    const tab = await open(t, "?anyone");
    await tab.until(pageShows, "Welcome");
    await tab.click("#who");
    await tab.until(() => document.querySelector("#signIn input"));
    await tab.press("#signIn input", "root\uE007");
    await tab.until(() => document.querySelectorAll("#queries a").length === 3);
    assert.equal(await tab.run(() => document.querySelector(".charts").hidden), false);
    await tab.run(() => (location.hash = "#purchases"));
    await tab.until(() => document.getElementById("title").textContent === "Purchases" && document.body.dataset.state === "live");
    await tab.click("#about summary");
    const text = await tab.until(() => document.getElementById("details").innerText);
    assert.match(text, /Who you are\s+gives customer/i);
    assert.ok(!text.includes("root"));
    await tab.click("#who");
    await tab.until(() => document.querySelectorAll("#queries a").length === 1);
    assert.equal(await tab.run(() => sessionStorage.length), 0);
  });

  test("nothing that pages and the server said shows a token", async () => {
    const said = JSON.stringify(await browser.console()) + server.log;
    for (const token of ["ada", "bob", "root", "clerk", "short", "guest", "solo"]) {
      assert.ok(!new RegExp(`\\b${token}\\b`).test(said), `${token} is in ${said.slice(0, 3000)}`);
    }
  });
});
