// What the client rests on, in each engine that is installed: streams, a worker that tabs share, moves, long lists,
// the page and its Explore.

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { describe, test } from "node:test";
import { addressOfExploration } from "../../Public/page/explore.js";
import { Middle } from "./support/middle.mjs";
import { eventually, noServer, teams, teamsConfiguration } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";
import { engines, isMissing } from "./support/webdriver.mjs";

const page = (head) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Bound</title>
<link rel="icon" href="favicon.svg">${head}<ul></ul><script type="module">
  import { FetchedRecordsController } from "./didchange.js";
  const players = new FetchedRecordsController("v1/queries/players");
  players.bind(document.querySelector("ul"), {
    section: ({ name }) => name,
    row({ name }, node = document.createElement("li")) {
      if (!node.firstChild) node.append(document.createElement("b"), document.createElement("input"));
      node.firstChild.textContent = name;
      return node;
    },
  });
  // The driver of Firefox runs what it is given beside the page, whose globals are those of the window.
  Object.assign(window, { players, snapshots: 0, troubles: [] });
  players.addEventListener("snapshot", () => window.snapshots++);
  addEventListener("error", ({ message }) => troubles.push(message));
  addEventListener("unhandledrejection", ({ reason }) => troubles.push(String(reason)));
</script></html>`;

const longPage = `<!doctype html><link rel="icon" href="favicon.svg"><div style="height: 600px"></div><script type="module">
  import { FetchedRecordsController } from "./didchange.js";
  import { VirtualList } from "./didchange/virtualList.js";
  window.list = new VirtualList(document.querySelector("div"), new FetchedRecordsController("v1/queries/numbers"), {
    rowHeight: 30, row: (record, node) => { node.textContent = record ? record.name : "…"; } });
</script>`;

/** Whether what is in sight of a long list is these rows, and nothing else. */
const showsRows = (from, name) => {
  const { top, bottom } = window.list?.scroller.getBoundingClientRect() ?? {};
  const rows = [...window.list?.layer.children ?? []].map((node) => [node.getBoundingClientRect(), node.textContent])
    .filter(([box]) => box.bottom > top + 1 && box.top < bottom - 1).sort(([a], [b]) => a.top - b.top);
  return rows.length >= 20 && rows.every(([, text], n) => text === (n === 0 && name ? name : String(from + n)));
};

const start = "Blue: Ada Barbara Cyd Green: Dora Red: Eve Fay";
const shows = (text) => window.players?.state === "live" && [...document.querySelector("ul").children]
  .map((node) => node.querySelector("b")?.textContent ?? `${node.textContent}:`).join(" ") === text;

const chosen = process.env.DIDCHANGE_BROWSER ? [process.env.DIDCHANGE_BROWSER] : engines;

for (const engine of chosen) describe(engine, { skip: isMissing(engine) || noServer, timeout: 600_000 }, () => {
  let browser, database, server, middle;

  stage({
    browser: { engine }, options: ["--explore"],
    sql: `${teams} CREATE TABLE number (id INTEGER PRIMARY KEY, name TEXT);
      INSERT INTO number SELECT value, value FROM generate_series(0, 9999)`,
    configuration: (path) => `${teamsConfiguration(path)}  numbers: {table: number, order: [id]}\n`,
    pages: { "bound.html": page(""), "alone.html": page("<script>delete window.SharedWorker</script>"), "long.html": longPage },
    // A word on that channel ends the worker, which tells nobody.
    files: (folder) => appendFileSync(`${folder}/didchange/worker.js`, `new BroadcastChannel("end").onmessage = () => close();\n`),
  }, async (made) => {
    ({ browser, database, server } = made);
    middle = made.keep(await new Middle(server).start());
  });

  /** A tab that shows the list as it is at first; nothing went wrong in it. */
  async function open(t, name) {
    database.run(`BEGIN; DELETE FROM player; ${teams.slice(teams.indexOf("INSERT"))} COMMIT`);
    const tab = await browser.open(middle.url + name);
    t.after(async () => {
      const troubles = await tab.run(() => window.troubles);
      await tab.close();
      assert.deepEqual(troubles, []);
    });
    await tab.until(shows, start);
    return tab;
  }

  const commit = (id, what) => database.run(`UPDATE player SET ${what} WHERE id = ${id}`);

  for (const [name, how] of [["bound.html", "over a worker that tabs share"], ["alone.html", "without a SharedWorker"]]) {
    test(`a list lives and resumes after a cut, ${how}`, async (t) => {
      const tab = await open(t, name);
      assert.equal(await tab.run(() => typeof SharedWorker), name === "bound.html" ? "function" : "undefined");
      commit(1, "name = 'Abe'");
      await tab.until(shows, start.replace("Ada", "Abe"));
      const snapshots = await tab.run(() => window.snapshots);
      await server.stop("SIGKILL");
      await tab.until(() => window.players.state === "stale");
      await server.start();
      await tab.until(() => window.players.state === "live");
      assert.match(middle.streams[0], /lastEventId/);
      commit(2, "team = 'Red'");
      await tab.until(shows, "Blue: Abe Cyd Green: Dora Red: Barbara Eve Fay");
      assert.equal(await tab.run(() => window.snapshots), snapshots, "it was told the difference");
    });
  }

  test("tabs share one stream", async (t) => {
    const tabs = [await open(t, "bound.html"), await open(t, "bound.html")];
    commit(6, "name = 'Flo'");
    for (const tab of tabs) await tab.until(shows, start.replace("Fay", "Flo"));
    assert.equal(middle.streams.length, 1);
  });

  test("tabs go on where the worker that they share has ended", async (t) => {
    const tabs = [await open(t, "bound.html"), await open(t, "bound.html")];
    await tabs[0].run(() => new BroadcastChannel("end").postMessage("now") ?? null);
    await eventually(() => middle.streams.length === 1 && middle.of("/v1/events").length > 0, "a new stream in place of the old one");
    commit(6, "name = 'Flo'");
    for (const tab of tabs) await tab.until(shows, start.replace("Fay", "Flo"));
    assert.equal(middle.streams.length, 1);
  });

  test("a row that moves is the same node, and keeps its focus and selection", async (t) => {
    const tab = await open(t, "bound.html");
    await tab.run(() => {
      const input = document.querySelector("input");
      window.row = input.parentNode;
      input.value = "typing";
      input.focus();
      input.setSelectionRange(2, 4);
    });
    commit(1, "team = 'Red', name = 'Gus'");
    await tab.until(shows, "Blue: Barbara Cyd Green: Dora Red: Eve Fay Gus");
    assert.deepEqual(await tab.run(() => {
      const { activeElement, activeElement: { value, selectionStart, selectionEnd } } = document;
      return [activeElement.parentNode === window.row, value, selectionStart, selectionEnd];
    }), [true, "typing", 2, 4]);
  });

  test("a move is shown before the server says so, and taken back where its request fails", async (t) => {
    const tab = await open(t, "bound.html");
    await tab.run(() => {
      document.querySelector("input").focus();
      window.players.move(1, [2, 1], new Promise((_, reject) => (window.refuse = reject)));
    });
    await tab.until(shows, "Blue: Barbara Cyd Green: Dora Red: Eve Ada Fay");
    assert.equal(await tab.run(() => document.activeElement.previousSibling.textContent), "Ada");
    await tab.run(() => window.refuse(new Error("no")));
    await tab.until(shows, start);
    assert.equal(await tab.run(() => document.activeElement.previousSibling.textContent), "Ada");
  });

  test("a long list has what it is scrolled to, and is live there", async (t) => {
    const tab = await browser.open(`${middle.url}long.html`);
    t.after(() => tab.close());
    await tab.until(showsRows, 0);
    await tab.run(() => { window.list.scroller.scrollTop = 30 * 7000; });
    await tab.until(showsRows, 7000);
    database.run("UPDATE number SET name = 'seven' WHERE id = 7000");
    await tab.until(showsRows, 7000, "seven");
    // What goes above leaves the reading place.
    database.run("DELETE FROM number WHERE id < 10");
    await tab.until(() => window.list.numberOfRecords === 9990);
    await tab.until(showsRows, 7000, "seven");
  });

  test("any SELECT is live in Explore", async (t) => {
    const tab = await browser.open(middle.url + addressOfExploration("SELECT count(*) AS n FROM player"));
    t.after(() => tab.close());
    const says = (number) => document.querySelector("#records .record [role=cell]")?.textContent === number
      && document.body.dataset.state === "live";
    await tab.until(says, database.run("SELECT count(*) FROM player").trim());
    database.run("DELETE FROM player");
    await tab.until(says, "0");
  });

  test("the page lives", async (t) => {
    database.run(`BEGIN; DELETE FROM player; ${teams.slice(teams.indexOf("INSERT"))} COMMIT`);
    const tab = await browser.open(`${middle.url}#players`);
    t.after(() => tab.close());
    const says = (name) => document.body.dataset.state === "live" && document.body.innerText.includes(name);
    await tab.until(says, "Barbara");
    commit(2, "name = 'Beatrix'");
    await tab.until(says, "Beatrix");
  });
});
