// The page for who cannot see or use a mouse: axe finds nothing, on a desktop and a phone, in light and dark.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { addressOfExploration } from "../../Public/page/explore.js";
import { noAxe, violationsIn } from "./support/axe.mjs";
import { noServer, teams } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";
import { noDevTools } from "./support/webdriver.mjs";

const screens = {
  desktop: { width: 1280, height: 800, deviceScaleFactor: 1, mobile: false },
  phone: { width: 390, height: 780, deviceScaleFactor: 1, mobile: true },
};

const isDrawn = () => document.querySelectorAll("#records [role=cell]").length > 10 && document.body.dataset.state === "live";
const click = (selector) => (tab) => tab.run((selector) => document.querySelector(selector).click(), selector);

/** What is looked at: its address, what is done there, and when it is to be seen. */
const sights = {
  "a list in sections, with its events": ["#players", click("#showEvents"), () => document.querySelector(".events").offsetWidth > 0],
  "what is known of a query": ["#ranking", click("#about summary"), () => document.getElementById("details").innerText.includes("SELECT")],
  "a wide table": ["#wide"],
  "a long list, with an index": ["#people", null, () => document.querySelectorAll("#index button").length > 5],
  "a record": ["#wide", click("#records .record:has([role=cell])"), () => document.querySelector("dialog[open]")],
  "a SELECT": [addressOfExploration("SELECT * FROM player ORDER BY id"), null, () => document.getElementById("sql")],
  "a mistake": [addressOfExploration("SELECT nam FROM player"), null, () => /no such column/.test(document.body.innerText), true],
};

describe("axe finds nothing wrong with", { skip: noDevTools || noServer || noAxe, timeout: 600_000 }, () => {
  let browser, server;
  const columns = Array.from({ length: 14 }, (_, index) => `column${index}`);
  stage({ browser: true, options: ["--explore"], sql: `${teams}
    CREATE TABLE wide (id INTEGER PRIMARY KEY, ${columns.join(", ")});
    INSERT INTO wide VALUES (1${", 'some text'".repeat(14)}), (2${", NULL".repeat(14)});
    CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO person WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
      SELECT i, char(65 + i % 26) || i FROM n;`, configuration: `
queries:
  players: {title: Players, table: player, order: [name], section: team}
  ranking:
    table: player
    where: score > :least
    orders: {name: [name], best: [score DESC]}
    parameters: {least: {type: integer, default: 0}}
  wide: {table: wide}
  people: {table: person, order: [name], section: "substr(name, 1, 1)"}
` }, (made) => ({ browser, server } = made));

  for (const [name, [path, act, isThere = () => true, isEmpty]] of Object.entries(sights)) {
    test(name, async () => {
      for (const [screen, metrics] of Object.entries(screens)) {
        for (const scheme of ["light", "dark"]) {
          const tab = await browser.open("about:blank");
          await tab.devtools("Emulation.setDeviceMetricsOverride", metrics);
          await tab.devtools("Emulation.setEmulatedMedia", { features: [
            { name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: "reduce" }] });
          await tab.go(server.url + path);
          if (!isEmpty) await tab.until(isDrawn);
          await act?.(tab);
          await tab.until(isThere);
          assert.deepEqual(await violationsIn(tab), [], `${screen}, ${scheme}`);
          await tab.close();
        }
      }
    });
  }
});
