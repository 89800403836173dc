// The page: its parts that need no document, and what it does when something else of a query is asked for.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";
import { claimedNames, curlCommand } from "../../Public/page/details.js";
import { missingParameters } from "../../Public/page/parameters.js";
import { readRoute, writeRoute } from "../../Public/page/route.js";
import { jsonText, kindOf, sizeText, valueText } from "../../Public/page/values.js";
import { Middle } from "./support/middle.mjs";
import { noServer, teams, teamsConfiguration } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";
import { noBrowser } from "./support/webdriver.mjs";

test("a route survives the address, whatever its characters", () => {
  const routes = [
    { query: "players", parameters: {} },
    { query: "players", parameters: { country: "FR", text: "a&b=c?d#e%f +ü" } },
    { query: "a/b?c#d%é", parameters: { "x y": "" } },
  ];
  for (const route of routes) assert.deepEqual(readRoute(writeRoute(route)), route);
});

test("an empty hash chooses nothing, a broken one is taken by the letter", () => {
  assert.equal(readRoute(""), null);
  assert.equal(readRoute("#"), null);
  assert.deepEqual(readRoute("#100%"), { query: "100%", parameters: {} });
});

test("the command for a terminal means one address to a shell", () => {
  const url = `http://127.0.0.1/v1/queries/${encodeURIComponent("it's \"$HOME\" `x`")}/events?a=%27`;
  const words = execFileSync("/bin/sh", ["-c", `curl() { printf '%s|' "$@"; }\n${curlCommand(url)}`], { encoding: "utf8" });
  assert.equal(words, `-N|${url.replace("'", "%27")}|`);
});

test("a parameter without a default must be given", () => {
  const declared = [
    { name: "country", type: "text" }, { name: "minimum", type: "integer", default: 0 },
    { name: "city", type: "text" }, { name: "team", type: "text", default: null },
  ];
  assert.deepEqual(missingParameters(declared, {}), ["country", "city"]);
  assert.deepEqual(missingParameters(declared, { country: "FR", city: "Lyon" }), []);
});

test("values are told apart by kind", () => {
  assert.deepEqual([null, 1, 2n, "", { base64: "" }].map(kindOf), ["null", "number", "number", "text", "blob"]);
  assert.equal(valueText({ base64: "AAECAwQFBgcICQ==" }), "blob, 10 B");
  assert.equal(sizeText(1234567), "1.2 MB");
});

test("JSON shows an integer beyond 2^53 as its digits", () => {
  assert.equal(jsonText({ a: 9007199254740993n, b: "1" }), '{"a":9007199254740993,"b":"1"}');
});

test("the page knows which arguments come from who you are, where it sees the statement", () => {
  const sql = "SELECT ':no', \"a:b\", x -- :not\n FROM [t:u] WHERE customer = :customer AND team = :team /* :nor */";
  assert.deepEqual(claimedNames({ sql, parameters: [{ name: "team" }] }), ["customer"]);
  assert.deepEqual(claimedNames({ parameters: [] }), []);
  assert.equal(curlCommand("http://h/", true), `curl -N -H "Authorization: Bearer $TOKEN" 'http://h/'`);
});

const shows = (names) => {
  const shown = [...document.querySelectorAll("#records .record [role=cell]:nth-child(2)")].map((cell) => cell.textContent);
  return shown.join(" ") === names && document.body.dataset.state === "live";
};

/** Marks each row with its record's name. */
const mark = () => {
  for (const row of document.querySelectorAll("#records .record:has([role=cell])")) row.wasHere = row.children[1].textContent;
};

/** The names of the rows that stand for the same record as when they were marked. */
const kept = () => [...document.querySelectorAll("#records .record:has([role=cell])")]
  .filter((row) => row.wasHere === row.children[1].textContent).map((row) => row.wasHere).join(" ");

const field = () => document.querySelector("#parameters input").value;
const order = () => document.querySelector("#parameters select").selectedOptions[0]?.text;

describe("something else of the same query", { skip: noBrowser || noServer, timeout: 600_000 }, () => {
  let browser, database, server;

  // So long that the difference is shorter than the whole.
  stage({ browser: true, sql: `${teams} ALTER TABLE player ADD COLUMN note TEXT; UPDATE player SET note = hex(zeroblob(500))`,
    configuration: (path) => `${teamsConfiguration(path)}
  ranking:
    table: player
    where: score <= :most
    orders: {name: [name], best: [score DESC]}
    parameters: {most: {type: integer, default: 30}}
  ordered: {table: player, orders: {name: [name], best: [score DESC]}}
` }, (made) => ({ browser, database, server } = made));

  /** A tab that shows a hash, behind what notes all that is sent. */
  async function page(t, hash, names) {
    const middle = await new Middle(server).start();
    const tab = await browser.open(middle.url + hash);
    t.after(async () => {
      await tab.close();
      await middle.stop();
    });
    await tab.until(shows, names);
    await tab.run(mark);
    /** Does something, waits for what then is shown, and gives the events of the one stream that it takes. */
    const sent = async (act, names) => {
      const streams = () => middle.of("/v1/events").length + middle.flowing.length;
      const before = streams();
      await act();
      await tab.until(shows, names);
      assert.equal(streams(), before + 1, "one request");
      const { path, text } = middle.flowing.at(-1);
      assert.match(path, /lastEventId/);
      return [...text.matchAll(/^event: (\w+)\n(?:id: .*\n)?data: (.*)$/gm)]
        .map(([, event, data]) => ({ event, ...JSON.parse(data) })).filter(({ event }) => !["commit", "heartbeat"].includes(event));
    };
    return { tab, middle, sent };
  }

  const hash = (tab) => tab.run(() => location.hash);
  const back = (tab) => tab.run(() => history.back());

  test("another parameter brings the difference, and leaves the rows that stay", async (t) => {
    const { tab, sent } = await page(t, "#ranking", "Ada Barbara Cyd");
    const events = await sent(() => tab.press("#parameters input", "40\uE007"), "Ada Barbara Cyd Dora");
    assert.deepEqual(events.map(({ event, type }) => type ?? event), ["willChange", "insertion", "didChange"]);
    assert.equal(events[0].numberOfChanges, 1);
    assert.equal(await tab.run(kept), "Ada Barbara Cyd");
    assert.equal(await hash(tab), "#ranking?most=40");
    assert.match(await tab.run(() => document.querySelector("#log h3").textContent), /· 1 change/);
    database.run("UPDATE player SET score = 41 WHERE id = 4");
    await tab.until(shows, "Ada Barbara Cyd");
    database.run("UPDATE player SET score = 40 WHERE id = 4");
    await tab.until(shows, "Ada Barbara Cyd Dora");
    const left = await sent(() => back(tab), "Ada Barbara Cyd");
    assert.deepEqual(left.map(({ event, type }) => type ?? event), ["willChange", "deletion", "didChange"]);
    assert.equal(await tab.run(kept), "Ada Barbara Cyd");
    assert.equal(await tab.run(field), "");
  });

  test("another order moves the rows", async (t) => {
    const { tab, sent } = await page(t, "#ranking?most=40", "Ada Barbara Cyd Dora");
    const events = await sent(() => tab.press("#parameters select", "best"), "Dora Cyd Barbara Ada");
    assert.deepEqual(events.slice(1, -1).map(({ type }) => type), ["move", "move", "move"]);
    assert.equal(await tab.run(kept), "Dora Cyd Barbara Ada");
    assert.equal(await hash(tab), "#ranking?most=40&order=best");
    await sent(() => back(tab), "Ada Barbara Cyd Dora");
    assert.equal(await tab.run(kept), "Ada Barbara Cyd Dora");
    assert.equal(await tab.run(order), "name");
    await sent(() => tab.run(() => history.forward()), "Dora Cyd Barbara Ada");
    assert.equal(await tab.run(order), "best");
    assert.equal(await tab.run(field), "40");
  });

  test("an order in the address is chosen at once, also of a query without parameters", async (t) => {
    const { tab } = await page(t, "#ordered?order=best", "Fay Eve Dora Cyd Barbara Ada");
    assert.equal(await tab.run(order), "best");
    await tab.run(() => (location.hash = "#ordered?order=name"));
    await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    assert.equal(await tab.run(order), "name");
    assert.equal(await tab.run(kept), "Ada Barbara Cyd Dora Eve Fay");
  });

  test("what the server refuses it explains, beside the rows and the way back to them", async (t) => {
    const { tab, middle } = await page(t, "#ranking?most=40", "Ada Barbara Cyd Dora");
    const says = (part) => document.getElementById("problem").textContent.includes(part)
      && document.body.dataset.state === "closed";
    await tab.press("#parameters input", "many\uE007");
    await tab.until(says, "most=40many: most is an integer");
    await tab.run(() => (location.hash = "#ranking?most=40&order=bset"));
    await tab.until(says, "did you mean best?");
    assert.equal(await tab.run(kept), "Ada Barbara Cyd Dora");
    database.run("UPDATE player SET name = 'Abe' WHERE id = 1");
    await tab.click("#problem a");
    await tab.until(shows, "Abe Barbara Cyd Dora");
    assert.equal(await tab.run(() => document.getElementById("problem").hidden), true);
    assert.equal(await tab.run(kept), "Barbara Cyd Dora", "a changed row is marked with the old name");
    assert.equal(await tab.run(field), "40");
    assert.doesNotMatch(middle.flowing.at(-1).text, /event: snapshot/);
    database.run("UPDATE player SET name = 'Ada' WHERE id = 1");
    await tab.until(shows, "Ada Barbara Cyd Dora");
    assert.equal(await tab.run(kept), "Ada Barbara Cyd Dora");
  });

  test("another query makes rows of its own", async (t) => {
    const { tab } = await page(t, "#ranking", "Ada Barbara Cyd");
    await tab.run(() => (location.hash = "#team?team=Red"));
    await tab.until(shows, "Eve Fay");
    assert.equal(await tab.run(() => document.querySelector("#parameters select")), null);
    await back(tab);
    await tab.until(shows, "Ada Barbara Cyd");
    assert.equal(await tab.run(kept), "");
  });
});
