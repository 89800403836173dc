// The parts that a page may load besides: the custom element, the hub without a worker.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eventually, metric, noServer, teams, teamsConfiguration } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";
import { noBrowser } from "./support/webdriver.mjs";

const page = (head, body) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Part</title>
<link rel="icon" href="favicon.svg">${head}<body>${body}</body></html>`;

describe("the parts", { skip: noBrowser || noServer, timeout: 600_000 }, () => {
  let browser, database, server;

  stage({
    browser: true, sql: teams,
    configuration: (path) => `${teamsConfiguration(path)}
  ranking:
    table: player
    where: score <= :most
    orders: {name: [name], best: [score DESC]}
    parameters: {most: {type: integer, default: 1000}}
`,
    pages: {
      "element.html": page(`<script type="module" src="didchange/element.js"></script>`,
        `<didchange-list src="v1/queries/players">
           <template section><b data-column="name"></b></template>
           <template><i data-column="name"></i> <u data-column="score"></u></template></didchange-list>`),
      "bound.html": page("", `<ul></ul><script type="module">
           import { FetchedRecordsController } from "./didchange.js";
           globalThis.ranking = new FetchedRecordsController("v1/queries/ranking", { parameters: { most: 50 } });
           ranking.bind(document.querySelector("ul"), { row: ({ name }) => name });
         </script>`),
      "alone.html": page(`<script>delete globalThis.SharedWorker</script>`,
        `<ul id="a"></ul><ul id="b"></ul><script type="module">
           import { FetchedRecordsController } from "./didchange.js";
           globalThis.all = new FetchedRecordsController("v1/queries/players");
           globalThis.team = new FetchedRecordsController("v1/queries/team", { parameters: { team: "Red" } });
           all.bind(document.getElementById("a"), { row: ({ name }) => name });
           team.bind(document.getElementById("b"), { row: ({ name }) => name });
         </script>`),
    },
  }, (made) => ({ browser, database, server } = made));

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

  test("a custom element goes on to other parameters and another order with the rows that it has", async () => {
    const tab = await browser.open(`${server.url}element.html`);
    const shows = (expected) => document.querySelector("didchange-list ul")?.innerText.replace(/\s+/g, " ") === expected;
    const ask = (src) => document.querySelector("didchange-list").setAttribute("src", src);
    await tab.run(ask, "v1/queries/ranking?most=30");
    await tab.until(shows, "Ada 10 Barbara 20 Cyd 30");
    await tab.run(() => {
      globalThis.first = document.querySelector("didchange-list").controller;
      globalThis.rows = [...document.querySelectorAll("didchange-list li:has(i)")];
    });
    await tab.run(ask, "v1/queries/ranking?most=40");
    await tab.until(shows, "Ada 10 Barbara 20 Cyd 30 Dora 40");
    await tab.run(ask, "v1/queries/ranking?order=best&most=30");
    await tab.until(shows, "Cyd 30 Barbara 20 Ada 10");
    assert.ok(await tab.run(() => document.querySelector("didchange-list").controller === first
      && [...document.querySelectorAll("didchange-list li:has(i)")].every((row, place) => row === rows[2 - place])));
    await tab.close();
  });

  test("what another request changes is shown as what a commit changes", async () => {
    const tab = await browser.open(`${server.url}bound.html`);
    const shows = (expected) => [...document.querySelectorAll("li")].map((row) => row.textContent).join(" ") === expected;
    await tab.until(shows, "Ada Barbara Cyd Dora Eve");
    await tab.run(() => {
      for (const row of document.querySelectorAll("li")) row.wasHere = row.textContent;
      globalThis.animated = { slides: [], fades: [] };
      const { animate } = Element.prototype;
      Element.prototype.animate = function (frames, ...rest) {
        animated[frames.opacity ? "fades" : "slides"].push(this.textContent);
        return animate.call(this, frames, ...rest);
      };
    });
    const seen = () => {
      const { slides, fades } = animated;
      globalThis.animated = { slides: [], fades: [] };
      return { slides: slides.sort().join(" "), fades: fades.join(" "),
        kept: [...document.querySelectorAll("li")].filter((row) => row.wasHere === row.textContent).length };
    };
    await tab.run(() => (ranking.order = "best"));
    await tab.until(shows, "Eve Dora Cyd Barbara Ada");
    assert.deepEqual(await tab.run(seen), { slides: "Ada Barbara Dora Eve", fades: "", kept: 5 });
    await tab.run(() => (ranking.parameters = { most: 60 }));
    await tab.until(shows, "Fay Eve Dora Cyd Barbara Ada");
    assert.deepEqual(await tab.run(seen), { slides: "Ada Barbara Cyd Dora Eve", fades: "Fay", kept: 5 });
    database.run("UPDATE player SET score = 61 WHERE id = 6");
    await tab.until(shows, "Eve Dora Cyd Barbara Ada");
    assert.deepEqual(await tab.run(seen), { slides: "Ada Barbara Cyd Dora Eve", fades: "", kept: 5 });
    database.run("UPDATE player SET score = 60 WHERE id = 6");
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
