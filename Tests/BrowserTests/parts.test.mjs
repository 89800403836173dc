// The parts that a page may load besides: the custom element, the React hook, the hub without a worker.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { cpSync } from "node:fs";
import {
  Database, eventually, Folder, metric, noServer, publicFolder, Server, teams, teamsConfiguration,
} from "./support/server.mjs";
import { react } from "./support/react.mjs";
import { Browser, noBrowser } from "./support/webdriver.mjs";

const page = (head, body) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Part</title>
<link rel="icon" href="favicon.svg">${head}<body>${body}</body></html>`;

describe("the parts", { skip: noBrowser || noServer, timeout: 120_000 }, () => {
  let browser, folder, database, server;

  before(async () => {
    folder = new Folder();
    database = new Database(folder.file("teams.sqlite"), teams);
    cpSync(publicFolder, folder.file("public"), { recursive: true });
    folder.file("public/element.html", page(`<script type="module" src="didchange/element.js"></script>`,
      `<didchange-list src="v1/queries/players">
         <template section><b data-column="name"></b></template>
         <template><i data-column="name"></i> <u data-column="score"></u></template></didchange-list>`));
    folder.file("public/react-stub.js", react);
    folder.file("public/react.html", page(
      `<script type="importmap">{"imports": {"react": "./react-stub.js"}}</script>
       <script type="module">
         import { mounted, render } from "react";
         import { useFetchedRecords } from "./didchange/react.js";
         globalThis.team = "Blue";
         globalThis.component = mounted(() => {
           const { sections, state } = useFetchedRecords("v1/queries/team", { team: globalThis.team });
           document.body.textContent = state + ": " + sections.flatMap(({ records }) => records).map(({ name }) => name).join(" ");
         });
         globalThis.rerender = () => render(globalThis.component);
         rerender();
       </script>`, ""));
    folder.file("public/alone.html", page(`<script>delete globalThis.SharedWorker</script>`,
      `<ul id="a"></ul><ul id="b"></ul><script type="module">
         import { FetchedRecordsController } from "./didchange.js";
         globalThis.all = new FetchedRecordsController("v1/queries/players");
         globalThis.team = new FetchedRecordsController("v1/queries/team", { parameters: { team: "Red" } });
         all.bind(document.getElementById("a"), { row: ({ name }) => name });
         team.bind(document.getElementById("b"), { row: ({ name }) => name });
       </script>`));
    server = await new Server(["--config", folder.file("teams.yaml", teamsConfiguration(database.path))],
      { env: { DIDCHANGE_PUBLIC: folder.file("public") } }).start();
    browser = await Browser.start();
  });

  after(async () => {
    await browser?.stop();
    await server?.stop();
    folder?.remove();
  });

  test("a custom element needs no script of one's own", async () => {
    const tab = await browser.open(`${server.url}element.html`);
    await tab.until((expected) => document.querySelector("didchange-list ul")?.innerText.replace(/\s+/g, " ") === expected,
      "Blue Ada 10 Barbara 20 Cyd 30 Green Dora 40 Red Eve 50 Fay 60");
    await tab.until(() => document.querySelector("didchange-list").getAttribute("state") === "live");
    await tab.run(() => (document.querySelector("didchange-list li:nth-child(3)").wasHere = true));
    database.run("UPDATE player SET score = 21, team = 'Green' WHERE id = 2");
    await tab.until((expected) => document.querySelector("didchange-list ul").innerText.replace(/\s+/g, " ") === expected,
      "Blue Ada 10 Cyd 30 Green Barbara 21 Dora 40 Red Eve 50 Fay 60");
    assert.equal(await tab.run(() => document.querySelector("didchange-list li:nth-child(5)").wasHere), true);
    await tab.run(() => document.querySelector("didchange-list").setAttribute("src", "v1/queries/team?team=Red"));
    await tab.until(() => document.querySelector("didchange-list ul").innerText.replace(/\s+/g, " ") === "Eve 50 Fay 60");
    database.run("UPDATE player SET score = 20, team = 'Blue' WHERE id = 2");
    await tab.close();
  });

  test("a React hook follows its parameters and cleans up", async () => {
    const tab = await browser.open(`${server.url}react.html`);
    await tab.until(() => document.body.textContent === "live: Ada Barbara Cyd");
    database.run("UPDATE player SET name = 'Abe' WHERE id = 1");
    await tab.until(() => document.body.textContent === "live: Abe Barbara Cyd");
    await tab.run(() => { globalThis.team = "Red"; globalThis.rerender(); });
    await tab.until(() => document.body.textContent === "live: Eve Fay");
    database.run("UPDATE player SET name = 'Ada' WHERE id = 1");
    await tab.close();
  });

  test("without a SharedWorker the controllers of a page share a stream", async () => {
    const tab = await browser.open(`${server.url}alone.html`);
    await tab.until(() => document.getElementById("a").childElementCount === 6 && document.getElementById("b").childElementCount === 2);
    await eventually(async () => (await metric(server, "streams")) === 1, "one stream for both");
    database.run("UPDATE player SET team = 'Red' WHERE id = 1");
    await tab.until(() => document.getElementById("b").innerText === "Ada\nEve\nFay");
    database.run("UPDATE player SET team = 'Blue' WHERE id = 1");
    await tab.close();
  });

  test("nobody complained", async () => {
    assert.deepEqual((await browser.console()).filter(({ level }) => level === "SEVERE"), []);
  });
});
