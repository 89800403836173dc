// The page's list: wide and narrow, sorted by its head, with pictures, and a record in full.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { History } from "../../Public/page/history.js";
import { nextOrder } from "../../Public/page/rows.js";
import { noServer, teams } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";
import { noBrowser, noDevTools } from "./support/webdriver.mjs";

test("a click turns an order round where there is one for that", () => {
  const both = { ascending: "up", descending: "down" };
  assert.deepEqual(["none", "ascending", "descending"].map((present) => nextOrder(both, present)), ["up", "down", "up"]);
  assert.equal(nextOrder({ descending: "down" }, "none"), "down");
  assert.equal(nextOrder({ descending: "down" }, "descending"), "down");
  assert.equal(nextOrder({ ascending: "up" }, "ascending"), "up");
});

test("a history is bounded, and tells records apart by their keys", () => {
  const history = new History();
  const time = new Date();
  for (let n = 1; n <= 6000; n++) {
    history.note({ key: [n % 2 ? 1 : "1"], type: "update", changes: { score: n }, record: { score: n + 1 } }, n, time);
  }
  history.note({ key: null, type: "insertion", record: {} }, 6001, time);
  const [integers, texts] = [history.of([1]), history.of(["1"])];
  assert.equal(integers[0].commit, 5999);
  assert.deepEqual(texts[0].values, [["score", 6000, 6001]]);
  assert.ok(integers.length + texts.length <= 5500 && integers.length > 2400, `${integers.length}`);
  assert.deepEqual(history.of(null), []);
});

const png = "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cf"
  + "c0000003010100c9fe92ef0000000049454e44ae426082";
const wide = Array.from({ length: 14 }, (_, index) => `column${index}`);
const phone = { width: 390, height: 780, deviceScaleFactor: 1, mobile: true };

/** Keys, as WebDriver has them. */
const keys = { Enter: "\uE007", Escape: "\uE00C", Home: "\uE011", ArrowUp: "\uE013", ArrowRight: "\uE014", ArrowDown: "\uE015" };

/** How far the cells of a row are from the left edge of the list. */
const lefts = () => {
  const pane = document.getElementById("records");
  const edge = pane.getBoundingClientRect().left;
  const row = [...pane.querySelectorAll(".record:has([role=cell])")].find((row) => row.children[0].textContent === "1");
  const head = pane.querySelector(".columns .record");
  return [row, head].map(({ children }) => [...children].map((cell) => Math.round(cell.getBoundingClientRect().left - edge)));
};

const names = () => [...document.querySelectorAll("#records .record [role=cell]:nth-child(2)")]
  .map((cell) => cell.textContent).join(" ");

describe("the page's list", { skip: noBrowser || noServer, timeout: 600_000 }, () => {
  let browser, database, server;

  stage({ browser: true, sql: `${teams}
    CREATE TABLE wide (id INTEGER PRIMARY KEY, ${wide.join(", ")});
    CREATE TABLE long (id INTEGER PRIMARY KEY, ${wide.join(", ")});
    INSERT INTO wide VALUES (1${", 'some text'".repeat(14)}), (2${", 'other text'".repeat(14)});
    INSERT INTO long WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      SELECT i${", 'some text'".repeat(14)} FROM n;
    CREATE TABLE picture (id INTEGER PRIMARY KEY, typed BLOB, plain BLOB, other BLOB);
    INSERT INTO picture VALUES (1, x'${png}', x'${png}', x'00010203');`, configuration: `
queries:
  players: {table: player, orders: {name: [name], best: [score DESC, name], backwards: [name DESC]}}
  teams: {table: player, order: [name], section: team}
  wide: {table: wide}
  long: {table: long}
  picture: {table: picture, columns: {typed: {blob: image/png}}}
` }, (made) => ({ browser, database, server } = made));

  /** A tab that shows a query, perhaps on another screen, which is closed at the end of the test. */
  async function page(t, hash, screen = null) {
    await browser.console();
    const tab = await browser.open("about:blank");
    t.after(async () => {
      const said = await browser.console();
      await tab.close();
      assert.deepEqual(said.filter(({ level }) => level === "SEVERE").map(({ message }) => message), []);
    });
    if (screen) await tab.devtools("Emulation.setDeviceMetricsOverride", screen);
    await tab.go(server.url + hash);
    await tab.until(() => document.querySelector("#records [role=cell]")?.textContent !== undefined
      && document.body.dataset.state === "live");
    return tab;
  }

  for (const query of ["wide", "long"]) {
    test(`a wide table scrolls beneath its first column, and its head with it: ${query}`, async (t) => {
      const tab = await page(t, `#${query}`);
      await tab.until(() => document.querySelectorAll("#records .record:has([role=cell])").length > 1);
      const scroller = query === "wide" ? "#records" : "#records [role=rowgroup]:has(> [role=presentation])";
      const [before] = await tab.run(lefts);
      const by = await tab.run((scroller) => {
        const pane = document.querySelector(scroller);
        pane.scrollLeft = 300;
        return pane.scrollLeft;
      }, scroller);
      assert.equal(by, 300);
      await tab.until(`() => (${lefts})()[1][5] < ${before[5]}`);
      const [row, head] = await tab.run(lefts);
      assert.deepEqual(row, head);
      assert.equal(row[0], 0);
      assert.equal(row[5], before[5] - 300);
      // The page itself has the width of the window.
      assert.ok(await tab.run(() => document.documentElement.scrollWidth <= innerWidth));
    });
  }

  test("a column is made wider by mouse and by keys, in all rows", async (t) => {
    const tab = await page(t, "#wide");
    const widths = () => [...document.querySelectorAll("#records .record")].map((row) => row.children[1].offsetWidth);
    const handle = await tab.run(() => {
      const { x, y, width, height } = document.querySelectorAll("#records .handle")[1].getBoundingClientRect();
      return { x: Math.round(x + width / 2), y: Math.round(y + height / 2) };
    });
    const [before] = await tab.run(widths);
    await tab.drag([handle.x, handle.y], [handle.x + 60, handle.y]);
    assert.deepEqual(await tab.run(widths), Array(3).fill(before + 60));
    await tab.run(() => document.querySelectorAll("#records .handle")[1].focus());
    await tab.type(keys.ArrowRight);
    assert.deepEqual(await tab.run(widths), Array(3).fill(before + 76));
    assert.equal(await tab.run(() => document.activeElement.ariaValueNow), String(before + 76));
    await tab.type(keys.Home);
    assert.deepEqual(await tab.run(widths), Array(3).fill(before));
  });

  test("the head sorts by columns that orders begin with, and says so", async (t) => {
    const tab = await page(t, "#players");
    const sorted = () => [...document.querySelectorAll("#records [role=columnheader]")].map((head) => `${head.ariaLabel} ${head.ariaSort}`).join();
    const shows = (expected) => [...document.querySelectorAll("#records .record [role=cell]:nth-child(2)")]
      .map((cell) => cell.textContent).join(" ") === expected;
    await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    assert.equal(await tab.run(sorted), "id null,name ascending,team null,score none");
    await tab.click("#records [role=columnheader]:nth-child(4) button");
    await tab.until(shows, "Fay Eve Dora Cyd Barbara Ada");
    assert.equal(await tab.run(sorted), "id null,name none,team null,score descending");
    assert.equal(await tab.run(() => location.hash), "#players?order=best");
    await tab.click("#records [role=columnheader]:nth-child(2) button");
    await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    assert.equal(await tab.run(() => location.hash), "#players");
    await tab.click("#records [role=columnheader]:nth-child(2) button");
    await tab.until(shows, "Fay Eve Dora Cyd Barbara Ada");
    assert.equal(await tab.run(sorted), "id null,name descending,team null,score none");
    await tab.run(() => history.back());
    await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    assert.equal(await tab.run(sorted), "id null,name ascending,team null,score none");
  });

  test("a click opens a record, which lives on, with its history", async (t) => {
    const tab = await page(t, "#teams");
    const text = () => document.querySelector("dialog[open]")?.innerText ?? "";
    await tab.click("#records .record:has(> [role=cell]:nth-child(1))");
    await tab.until(`() => /Nothing has happened/.test((${text})())`);
    let shown = await tab.run(text);
    for (const part of [/teams: 1/, /Key\s+\[1\]/, /Index path\s+\[0,0\]/, /Section\s+Blue/, /"name": "Ada"/]) assert.match(shown, part);
    database.run("UPDATE player SET score = 11, name = 'Abe' WHERE id = 1");
    await tab.until(`() => /10 → 11/.test((${text})())`);
    database.run("UPDATE player SET team = 'Red' WHERE id = 1");
    await tab.until(`() => /\\[2,0\\]/.test((${text})())`);
    shown = await tab.run(text);
    for (const part of [/Section\s+Red/, /move \[0,0\] → \[2,0\]/, /"Blue" → "Red"/, /update \[0,0\], commit/, /"Ada" → "Abe"/]) assert.match(shown, part);
    assert.match(shown, /move[^]*update/, "the newest first");
    database.run("DELETE FROM player WHERE id = 1");
    await tab.until(`() => /it is not in the list any more/.test((${text})())`);
    await tab.type(keys.Escape);
    await tab.until(() => !document.querySelector("dialog"));
    database.run("INSERT INTO player VALUES (1, 'Ada', 'Blue', 10)");
    await tab.until(`() => (${names})() === "Ada Barbara Cyd Dora Eve Fay"`);
    // Another query was shown meanwhile: what has happened stays known.
    await tab.run(() => (location.hash = "#wide"));
    await tab.until(() => document.querySelectorAll("#records [role=columnheader]").length === 15);
    await tab.run(() => (location.hash = "#teams"));
    await tab.until(`() => (${names})() === "Ada Barbara Cyd Dora Eve Fay"`);
    await tab.click("#records .record:has(> [role=cell])");
    assert.match(await tab.until(`() => (${text})()`), /insertion[^]*deletion[^]*move[^]*update/);
  });

  test("rows can be gone through and opened by keys", async (t) => {
    const tab = await page(t, "#teams");
    await tab.run(() => document.querySelector("#records .record[tabindex='0']").focus());
    const row = () => document.activeElement.children[1]?.textContent;
    assert.equal(await tab.run(row), "Ada");
    for (const name of ["Barbara", "Cyd", "Dora"]) {
      await tab.type(keys.ArrowDown);
      assert.equal(await tab.run(row), name);
    }
    await tab.type(keys.ArrowUp);
    assert.equal(await tab.run(() => document.querySelectorAll("#records [tabindex='0'].record").length), 1);
    await tab.type(keys.Enter);
    await tab.until(() => document.querySelector("dialog[open]")?.ariaLabel === "teams: 3");
    await tab.type(keys.Escape);
    await tab.until(() => !document.querySelector("dialog"));
    assert.equal(await tab.run(row), "Cyd");
    const long = await page(t, "#long");
    await long.until(() => document.querySelectorAll("#records .record:has([role=cell])").length > 1);
    await long.run(() => document.querySelector("#records .record[tabindex='0']").focus());
    for (let n = 0; n < 40; n++) await long.type(keys.ArrowDown);
    assert.equal(await long.run(() => document.activeElement.children[0].textContent), "41");
    await long.type(keys.Enter);
    assert.match(await long.until(() => document.querySelector("dialog[open]")?.innerText), /Index path\s+\[0,40\]/);
  });

  test("on a phone names stand beside values, and nothing scrolls sideways", { skip: noDevTools }, async (t) => {
    for (const query of ["wide", "long"]) {
      const tab = await page(t, `#${query}`, phone);
      await tab.until(() => document.querySelectorAll("#records .record:has([role=cell])").length > 1);
      const shown = await tab.run(() => {
        const row = [...document.querySelectorAll("#records .record:has([role=cell])")].find((row) => row.children[0].textContent === "1");
        const cells = [...row.children].filter((cell) => cell.offsetHeight > 0);
        return { names: cells.map((cell) => getComputedStyle(cell, "::before").content), height: row.offsetHeight,
          fits: cells.every((cell) => row.getBoundingClientRect().bottom >= cell.getBoundingClientRect().bottom),
          page: document.documentElement.scrollWidth, pane: document.getElementById("records").scrollWidth };
      });
      assert.deepEqual(shown.names, ["id", ...wide.slice(0, 7)].map((name) => `"${name}"`));
      assert.ok(shown.fits && shown.height >= 190 && shown.height <= 192, JSON.stringify(shown));
      assert.ok(shown.page <= 390 && shown.pane <= 390, JSON.stringify(shown));
      await tab.click("#records .record:has([role=cell])");
      assert.match(await tab.until(() => document.querySelector("dialog[open]")?.innerText), /column13/);
    }
  });

  test("pictures are shown, typed or not, and what is none says what it is", async (t) => {
    const tab = await page(t, "#picture");
    await tab.until(() => [...document.querySelectorAll("#records img")].filter(({ naturalWidth }) => naturalWidth === 1).length === 2);
    assert.equal(await tab.run(() => document.querySelector("#records [role=cell]:nth-child(4)").textContent), "blob, 4 B");
    assert.match(await tab.run(() => document.querySelector("#records [role=cell]:nth-child(2) img").alt), /^image\/png, \d+ B$/);
  });

  test("the events fold away until there are any", async (t) => {
    const tab = await page(t, "#players");
    const isShown = () => document.querySelector(".events").offsetWidth > 0;
    assert.equal(await tab.run(isShown), false);
    await tab.click("#showEvents");
    assert.equal(await tab.run(isShown), true);
    await tab.until(() => document.getElementById("log").innerText.includes("snapshot"));
    await tab.click("#showEvents");
    database.run("UPDATE player SET score = score + 1 WHERE id = 2");
    await tab.until(isShown);
    await tab.click("#clear");
    assert.equal(await tab.run(isShown), false);
  });
});
