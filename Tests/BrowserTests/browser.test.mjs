// The client and the page in a real browser, on a real server that another process writes to.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Database, eventually, metric, noServer, Server, teams, teamsConfiguration } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";
import { noBrowser, noDevTools } from "./support/webdriver.mjs";

/** Bytes, uncompressed, with comments; with what the worker loads. */
const maximumPageWeight = 108_000;

const workerFiles = ["worker", "hub", "topic", "member", "stream", "asking", "eventParser", "pulse"]
  .map((name) => `didchange/${name}.js`);

const names = () => [...document.querySelectorAll("#records .record [role=cell]:nth-child(2)")]
  .map((cell) => cell.textContent);

/** `Section: name, name` of what the page shows. */
const outline = () => {
  const lines = [];
  for (const row of document.querySelectorAll("#records > :last-child > *")) {
    if (row.className === "section") lines.push(`${row.firstChild.textContent}:`);
    else lines.push(row.children[1].textContent);
  }
  return lines.join(" ");
};

const shows = (expected) => {
  const names = [...document.querySelectorAll("#records .record [role=cell]:nth-child(2)")]
    .map((cell) => cell.textContent).join(" ");
  return names === expected && document.body.dataset.state === "live";
};

describe("in a browser", { skip: noBrowser || noServer, timeout: 600_000 }, () => {
  let browser, folder, database, server;

  stage({ browser: true, sql: teams, configuration: teamsConfiguration }, (made) => ({ browser, database, folder, server } = made));

  /** A tab with the page, which is closed at the end of the test; nobody complained meanwhile. */
  async function page(t, path = "") {
    await browser.console();
    const tab = await browser.open(server.url + path);
    t.after(async () => {
      const said = await browser.console();
      await tab.close();
      assert.deepEqual(said.filter(({ level }) => level === "SEVERE")
        .map(({ message }) => message)
        // A server that is killed leaves this behind.
        .filter((message) => !/net::ERR_(CONNECTION|INCOMPLETE|EMPTY)/.test(message)), []);
    });
    return tab;
  }

  test("the first paint shows the result in its sections", async (t) => {
    const tab = await page(t);
    await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    assert.equal(await tab.run(outline), "Blue: Ada Barbara Cyd Green: Dora Red: Eve Fay");
    assert.equal(await tab.run(() => document.getElementById("counts").textContent), "6 records3 sections");
    const paint = await tab.run(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
    assert.ok(paint < 10_000, `first contentful paint after ${paint} ms`);
  });

  test("an insertion of another process comes live", async (t) => {
    const tab = await page(t);
    await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    database.run("INSERT INTO player VALUES (7, 'Aba', 'Blue', 1)");
    await tab.until(shows, "Aba Ada Barbara Cyd Dora Eve Fay");
    database.run("DELETE FROM player WHERE id = 7");
    await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    const log = await tab.run(() => document.getElementById("log").innerText);
    assert.match(log, /deletion/);
  });

  test("a record that moves to another section keeps its node", async (t) => {
    const tab = await page(t);
    await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    await tab.run(() => {
      for (const row of document.querySelectorAll("#records .record")) row.wasHere = true;
    });
    database.run("UPDATE player SET team = 'Red' WHERE id = 2");
    await tab.until(shows, "Ada Cyd Dora Barbara Eve Fay");
    assert.equal(await tab.run(outline), "Blue: Ada Cyd Green: Dora Red: Barbara Eve Fay");
    assert.equal(await tab.run(() =>
      [...document.querySelectorAll("#records .record:has([role=cell])")].every((row) => row.wasHere)), true);
    database.run("UPDATE player SET team = 'Blue' WHERE id = 2");
    await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
  });

  test("after kill -9 and a restart it goes on by itself", async (t) => {
    const tab = await page(t);
    await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    await tab.run(() => (document.querySelector("#records .record [role=cell]").wasHere = true));
    await server.stop("SIGKILL");
    await tab.until(() => document.body.dataset.state === "stale");
    await tab.until(() => /cannot be reached/.test(document.getElementById("problem").textContent));
    database.run("UPDATE player SET name = 'Abba' WHERE id = 1");
    await server.start();
    await tab.until(shows, "Abba Barbara Cyd Dora Eve Fay");
    assert.ok(await tab.run(() => document.getElementById("problem").hidden));
    assert.equal(await tab.run(() => document.querySelector("#records .record [role=cell]").wasHere), true);
    database.run("UPDATE player SET name = 'Ada' WHERE id = 1");
    await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
  });

  test("seven tabs are live at once, on one stream", async (t) => {
    const tabs = [];
    for (let n = 0; n < 7; n++) tabs.push(await page(t));
    for (const tab of tabs) await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    await eventually(async () => (await metric(server, "streams")) === 1, "one stream for all tabs");
    database.run("UPDATE player SET name = 'Zoe' WHERE id = 6");
    for (const tab of tabs) await tab.until(shows, "Ada Barbara Cyd Dora Eve Zoe");
    database.run("UPDATE player SET name = 'Fay' WHERE id = 6");
    for (const tab of tabs) await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
  });

  test("what only a closed tab watched is watched no more", async (t) => {
    await (await page(t)).until(shows, "Ada Barbara Cyd Dora Eve Fay");
    const tab = await browser.open(`${server.url}#team`);
    await tab.until(shows, "Ada Barbara Cyd");
    const opened = await metric(server, "streams_total");
    await tab.close();
    // The tab's lock is free: the others go on on a stream without its query.
    await eventually(async () => (await metric(server, "streams_total")) > opened, "a new stream");
    await eventually(async () => (await metric(server, "streams")) === 1, "instead of the old one");
  });

  test("a tab that was busy for a while catches up, the others do not wait for it", async (t) => {
    const [slow, quick] = [await page(t), await page(t)];
    for (const tab of [slow, quick]) await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    await slow.run(() => {
      globalThis.blocked = new Promise((done) => {
        // Begins when this call is over.
        setTimeout(() => {
          const end = performance.now() + 3000;
          while (performance.now() < end);
          done();
        });
      });
    });
    const commits = 300;
    for (let n = 1; n <= commits; n += 50) {
      database.run(Array.from({ length: 50 }, (_, i) =>
        `UPDATE player SET name = 'Fay${n + i}' WHERE id = 6;`).join("\n"));
    }
    await quick.until(shows, `Ada Barbara Cyd Dora Eve Fay${commits}`);
    await slow.until(shows, `Ada Barbara Cyd Dora Eve Fay${commits}`);
    database.run("UPDATE player SET name = 'Fay' WHERE id = 6");
    for (const tab of [slow, quick]) await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
  });

  test("parameters are filled in, and the address keeps them", async (t) => {
    const tab = await page(t, "#team");
    await tab.until(shows, "Ada Barbara Cyd");
    await tab.press("#parameters input", "Red\uE007");
    await tab.until(shows, "Eve Fay");
    assert.equal(await tab.run(() => location.hash), "#team?team=Red");
  });

  test("what the server knows of a query is there to read", async (t) => {
    const tab = await page(t);
    await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    await tab.click("#about summary");
    const text = await tab.until(() => document.getElementById("details").innerText);
    for (const part of [/incremental/, /SELECT/, /SCAN/, /\bid\b/, /curl -N/]) assert.match(text, part);
    await tab.click("#test");
    await tab.until(() => /at once/.test(document.getElementById("tested").textContent));
  });

  test("the log is bounded, and pauses", async (t) => {
    const tab = await page(t);
    await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    const groups = () => document.getElementById("log").childElementCount;
    await tab.click("#showEvents");
    await tab.click("#pause");
    const held = await tab.run(groups);
    for (let n = 0; n < 70; n += 10) {
      for (let i = 0; i < 10; i++) database.run(`UPDATE player SET score = ${n + i + 100} WHERE id = 1`);
    }
    await tab.until(() => document.getElementById("held").textContent === "60 held");
    assert.equal(await tab.run(groups), held);
    await tab.click("#pause");
    await tab.until(() => document.getElementById("log").childElementCount === 60);
  });

  test("it can be used without a mouse and without eyes", { skip: noDevTools }, async (t) => {
    const tab = await page(t);
    await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    await tab.click("#showEvents");
    const tree = (await tab.devtools("Accessibility.getFullAXTree")).nodes
      .filter(({ ignored }) => !ignored).map(({ role, name }) => `${role?.value} ${name?.value ?? ""}`);
    for (const node of ["table Players by team", "columnheader name", "rowheader Blue", "cell Ada",
      "navigation Queries", "button Pause", "heading Players by team"]) {
      assert.ok(tree.includes(node), `${node} is not in ${tree.join("\n")}`);
    }
    database.run("UPDATE player SET name = 'Abe' WHERE id = 1");
    await tab.until(() => /1 change, 6 records/.test(document.getElementById("announcement").textContent));
    database.run("UPDATE player SET name = 'Ada' WHERE id = 1");
    await tab.run(() => document.querySelector("#queries a").focus());
    for (let n = 0; n < 5; n++) {
      await tab.type("\uE004");
    }
    assert.notEqual(await tab.run(() => document.activeElement.tagName), "BODY");
  });

  test("who asked for less motion sees none", { skip: noDevTools }, async (t) => {
    const tab = await page(t);
    await tab.devtools("Emulation.setEmulatedMedia",
      { features: [{ name: "prefers-reduced-motion", value: "reduce" }] });
    await tab.go(`${server.url}?still`);
    await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    await tab.run(() => {
      globalThis.slides = 0;
      const animate = Element.prototype.animate;
      Element.prototype.animate = function (frames, ...rest) {
        if (frames.transform) globalThis.slides++;
        return animate.call(this, frames, ...rest);
      };
    });
    database.run("UPDATE player SET team = 'Red' WHERE id = 1");
    await tab.until(shows, "Barbara Cyd Dora Ada Eve Fay");
    assert.equal(await tab.run(() => globalThis.slides), 0);
    await tab.devtools("Emulation.setEmulatedMedia", { features: [] });
    database.run("UPDATE player SET team = 'Blue' WHERE id = 1");
    await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    assert.notEqual(await tab.run(() => globalThis.slides), 0);
  });

  test("the page is small, asks nobody else, and may not", async (t) => {
    const tab = await page(t);
    await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    const loaded = await tab.run(() => performance.getEntriesByType("resource").map(({ name }) => name));
    const origin = new URL(server.url).origin;
    assert.deepEqual(loaded.filter((url) => !url.startsWith(origin)), []);
    // The worker's part is not among the page's own resources.
    const files = new Set(["index.html", "favicon.svg", ...workerFiles, ...loaded.map((url) => url.slice(origin.length + 1)).filter((path) => /\.\w+$/.test(path))]);
    const sizes = await Promise.all([...files].map(async (path) =>
      [path, (await (await fetch(server.url + path)).arrayBuffer()).byteLength]));
    const weight = sizes.reduce((sum, [, size]) => sum + size, 0);
    t.diagnostic(`page weight: ${weight} bytes in ${files.size} files`);
    assert.ok(weight <= maximumPageWeight, `${weight} bytes: ${sizes.map((pair) => pair.join(" ")).join(", ")}`);
    assert.equal(await tab.run(async () => {
      const refused = new Promise((done) => addEventListener("securitypolicyviolation",
        ({ effectiveDirective }) => done(effectiveDirective), { once: true }));
      fetch("http://127.0.0.2:1/").catch(() => {});
      return refused;
    }), "connect-src");
    await browser.console();
  });

  test("a query that fails does not take another's records for its own", async (t) => {
    const database = new Database(folder.file("two.sqlite"), "CREATE TABLE a (x); INSERT INTO a VALUES ('of a');"
      + "CREATE TABLE b (x); INSERT INTO b VALUES ('of b');");
    const configuration =
      folder.file("two.yaml", `database: ${database.path}\nqueries: {a: {table: a}, b: {table: b}}`);
    const server = await new Server(["--config", configuration]).start();
    t.after(() => server.stop());
    const tab = await browser.open(server.url + "demo.html");
    t.after(() => tab.close());
    const shown = (tab, isLast) => tab.run(async (isLast) => {
      const { FetchedRecordsController } = await import("/didchange.js");
      const controllers = ["a", "b"].map((name) => new FetchedRecordsController(`/v1/queries/${name}`));
      const errors = [];
      controllers.forEach((controller, index) =>
        controller.addEventListener("error", ({ detail }) => errors.push(`${index} ${detail.query}`)));
      const live = (one) => new Promise((done) =>
        one.addEventListener("state", ({ detail }) => detail === "live" && done()));
      await Promise.all(controllers.map(live));
      // The error comes behind the snapshots.
      for (let wait = 0; wait < 100 && isLast && errors.length === 0; wait++) {
        await new Promise((done) => setTimeout(done, 20));
      }
      // The others stay, and keep the queries alive.
      window.kept = controllers;
      return [controllers.map(({ fetchedRecords }) => fetchedRecords.map(({ x }) => x)), errors];
    }, isLast);
    assert.deepEqual(await shown(tab, false), [[["of a"], ["of b"]], []]);
    database.run("DROP TABLE b");
    await eventually(async () => (await fetch(`${server.url}v1/queries/b/records`)).status === 500, "b fails");
    // Another page, with a worker of its own, as after a reload.
    const other = await browser.open(server.url.replace("127.0.0.1", "localhost") + "demo.html");
    t.after(() => other.close());
    assert.deepEqual(await shown(other, true), [[["of a"], ["of b"]], ["1 b"]]);
  });

  test("the demo page is thirty lines and live", async (t) => {
    const text = await (await fetch(`${server.url}demo.html`)).text();
    assert.ok(text.trim().split("\n").length <= 32);
    const tab = await page(t, "demo.html");
    await tab.until(() => document.getElementById("players").childElementCount === 9);
    await tab.run(() => (document.getElementById("players").children[3].wasHere = true));
    assert.equal(await tab.run(() => document.getElementById("players").innerText.replace(/\n/g, " ")),
      "Blue Ada 169 Barbara 20 Cyd 30 Green Dora 40 Red Eve 50 Fay 60");
    database.run("UPDATE player SET team = 'Green' WHERE id = 3");
    await tab.until(() => document.getElementById("players").innerText.replace(/\n/g, " ")
      === "Blue Ada 169 Barbara 20 Green Cyd 30 Dora 40 Red Eve 50 Fay 60");
    assert.equal(await tab.run(() => document.getElementById("players").children[4].wasHere), true);
    database.run("UPDATE player SET team = 'Blue' WHERE id = 3");
  });
});
