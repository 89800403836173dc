// Whether people can use the pages who see little, or nothing, or have no mouse: as far as axe can tell.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { noAxe, violationsIn } from "./support/axe.mjs";
import { Database, Folder, noServer, Server, teams, teamsConfiguration } from "./support/server.mjs";
import { Browser, noBrowser } from "./support/webdriver.mjs";

const devices = {
  desktop: { width: 1280, height: 860, deviceScaleFactor: 1, mobile: false },
  phone: { width: 390, height: 844, deviceScaleFactor: 3, mobile: true },
};

/** The addresses, and what is there when they are. */
const pages = {
  "a query in sections": ["", () => document.body.innerText.includes("Barbara") && document.body.dataset.state === "live"],
  "a query that needs a value": ["#team?team=Red", () => document.body.innerText.includes("Fay") && document.body.dataset.state === "live"],
  "an error": ["#nothing", () => document.body.innerText.includes("nothing")],
  "a long list": ["#long", () => document.body.innerText.includes("number 5") && document.body.dataset.state === "live"],
  "the page of the demo": ["demo.html", () => document.body.innerText.includes("Barbara")],
};

describe("axe finds nothing", { skip: noBrowser || noServer || noAxe, timeout: 120_000 }, () => {
  let browser, folder, database, server;

  before(async () => {
    folder = new Folder();
    database = new Database(folder.file("teams.sqlite"), `${teams}
      CREATE TABLE number (id INTEGER PRIMARY KEY, name TEXT, letter TEXT);
      INSERT INTO number SELECT value, 'number ' || value, char(65 + value / 500) FROM generate_series(1, 5000)`);
    server = await new Server(["--config", folder.file("teams.yaml",
      `${teamsConfiguration(database.path)}  long: {table: number, order: [id], section: letter}\n`)]).start();
    browser = await Browser.start();
  });

  after(async () => {
    await browser?.stop();
    await server?.stop();
    folder?.remove();
  });

  for (const [device, metrics] of Object.entries(devices)) {
    for (const scheme of ["light", "dark"]) {
      for (const [name, [address, isThere]] of Object.entries(pages)) {
        test(`on ${name}, ${device}, ${scheme}`, async (t) => {
          const tab = await browser.open("about:blank");
          t.after(() => tab.close());
          await tab.devtools("Emulation.setDeviceMetricsOverride", metrics);
          // What glides or fades has no colour yet.
          await tab.devtools("Emulation.setEmulatedMedia", { features: [
            { name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: "reduce" }] });
          await tab.go(server.url + address);
          await tab.until(isThere);
          assert.deepEqual(await violationsIn(tab), []);
        });
      }
    }
  }
});
