// A list in the document: what survives a move, moves that the server has not confirmed, formats.

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { noServer, teams } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";
import { noBrowser } from "./support/webdriver.mjs";

const page = (head, body) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Bound</title>
<link rel="icon" href="favicon.svg">${head}<body>${body}</body></html>`;

const script = `<ul></ul><script type="module">
  import { FetchedRecordsController } from "./didchange.js";
  globalThis.board = new FetchedRecordsController("v1/queries/board");
  board.bind(document.querySelector("ul"), {
    section: ({ name }) => name,
    row(record, node = document.createElement("li"), format) {
      if (!node.firstChild) node.append(document.createElement("b"), document.createElement("input"));
      node.firstChild.textContent = record.name;
      node.title = [format("score"), format("born"), format("done")].join(" ");
      return node;
    },
    formats: { number: (value) => value.toFixed(1), date: (value) => new Date(value * 1000).getUTCFullYear(), null: () => "–" },
    types: { born: "date" },
  });
</script>`;

describe("a bound list", { skip: noBrowser || noServer, timeout: 600_000 }, () => {
  let browser, database, server, tab;
  stage({
    browser: true,
    sql: `${teams} ALTER TABLE player ADD COLUMN born INTEGER; ALTER TABLE player ADD COLUMN done;`,
    configuration: "queries: {board: {table: player, order: [team, score], section: team}}",
    pages: {
      "board.html": page("", script),
      "old.html": page("<script>delete Element.prototype.moveBefore</script>", script),
      "element.html": page(`<script type="module" src="didchange/element.js"></script>`,
        `<didchange-list src="v1/queries/board"><template><i data-column="name"></i> <u data-column="born" data-type="date"></u>
         <s data-column="done"></s></template></didchange-list>`),
    },
  }, (made) => ({ browser, database, server } = made));

  beforeEach(() => database.run(`DELETE FROM player; INSERT INTO player (id, name, team, score, born) VALUES (1, 'Ada', 'Blue', 10, 0),
    (2, 'Barbara', 'Blue', 20, NULL), (3, 'Cyd', 'Blue', 30, 0), (5, 'Eve', 'Red', 50, 0), (6, 'Fay', 'Red', 60, 0)`));

  afterEach(async () => {
    assert.deepEqual((await browser.console()).filter(({ level }) => level === "SEVERE"), []);
    await tab.close();
  });

  const start = "Blue: Ada Barbara Cyd Red: Eve Fay";
  const shows = (expected) => [...document.querySelector("ul").children]
    .map((node) => node.querySelector("b")?.textContent ?? `${node.textContent}:`).join(" ") === expected;

  async function open(name = "board.html") {
    tab = await browser.open(server.url + name);
    await tab.until(shows, start);
  }

  for (const [name, isMoved] of [["board.html", true], ["old.html", false]]) {
    test(`a row that moves keeps its focus and selection, ${isMoved ? "and never lost it" : "where the browser cannot move too"}`, async () => {
      await open(name);
      const canMove = await tab.run(() => "moveBefore" in Element.prototype);
      await tab.run(() => {
        const input = document.querySelectorAll("input")[0];
        Object.assign(input, { value: "typing" }).focus();
        input.setSelectionRange(2, 4);
        globalThis.blurs = 0;
        input.addEventListener("blur", () => blurs++);
      });
      // Below what stays; and another row past it.
      database.run("UPDATE player SET score = 25 WHERE id = 1");
      await tab.until(shows, "Blue: Barbara Ada Cyd Red: Eve Fay");
      database.run("UPDATE player SET team = 'Red', score = 70 WHERE id = 1");
      await tab.until(shows, "Blue: Barbara Cyd Red: Eve Fay Ada");
      const { row, selection, blurs } = await tab.run(() => {
        const { activeElement } = document;
        return { row: activeElement.previousSibling?.textContent, blurs,
          selection: [activeElement.value, activeElement.selectionStart, activeElement.selectionEnd] };
      });
      assert.equal(row, "Ada");
      assert.deepEqual(selection, ["typing", 2, 4]);
      if (isMoved && canMove) assert.equal(blurs, 0);
    });
  }

  /** What a list of nodes goes through, by name. */
  const watchSlides = () => tab.run(() => {
    globalThis.slides = [];
    const { animate } = Element.prototype;
    Element.prototype.animate = function (frames, ...rest) {
      if (frames.transform) slides.push(this.firstChild.textContent);
      return animate.call(this, frames, ...rest);
    };
  });
  const slides = () => tab.run(() => slides.splice(0).sort().join(" "));

  test("a move is shown at once, and its change set moves nothing any more", async () => {
    await open();
    await watchSlides();
    await tab.run(() => board.move(1, [0, 2], new Promise((done) => (globalThis.finish = done))) && null);
    const moved = "Blue: Barbara Cyd Ada Red: Eve Fay";
    await tab.until(shows, moved);
    assert.equal(await slides(), "Ada Barbara Cyd");
    assert.deepEqual(await tab.run(() => board.indexPathFor(1)), [0, 2]);
    // A commit of others while it is under way.
    database.run("UPDATE player SET name = 'Flo' WHERE id = 6");
    await tab.until(shows, "Blue: Barbara Cyd Ada Red: Eve Flo");
    database.run("UPDATE player SET score = 35 WHERE id = 1");
    await tab.until(() => board.recordAt([0, 2]).score === 35);
    await tab.run(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    assert.ok(await tab.run(shows, "Blue: Barbara Cyd Ada Red: Eve Flo"));
    assert.equal(await slides(), "", "nothing travels");
  });

  test("a move is taken back when its request fails, by hand, and by the next change set", async () => {
    await open();
    for (const [how, ended] of [
      ["rejected", start], ["not ok", start], ["undone", start], ["overruled", "Blue: Ada Barbara Cyd Red: Eve Flo"],
    ]) {
      await tab.run((how) => {
        const request = { rejected: () => Promise.reject(new Error("no")), "not ok": async () => ({ ok: false }) }[how]?.();
        globalThis.paths = [];
        board.addEventListener("change", ({ detail }) => paths.push([detail.isLocal ?? false, ...detail.newIndexPath].join(" ")), { once: true });
        globalThis.undo = board.move([3], [1, 0], request);
      }, how);
      await tab.until(() => paths.length > 0);
      assert.deepEqual(await tab.run(() => paths), ["true 1 0"]);
      if (how === "undone") {
        await tab.until(shows, "Blue: Ada Barbara Red: Cyd Eve Fay");
        await tab.run(() => undo());
      }
      if (how === "overruled") {
        await tab.until(shows, "Blue: Ada Barbara Red: Cyd Eve Fay");
        database.run("UPDATE player SET name = 'Flo' WHERE id = 6");
      }
      await tab.until(shows, ended);
    }
  });

  test("of ten thousand rows a change set draws those it names, and measures those near what is seen", async () => {
    await open();
    database.run(`INSERT INTO player (id, name, team, score) SELECT value, 'p' || value, 'Yellow', value FROM generate_series(100, 10099)`);
    await tab.until(() => document.querySelectorAll("ul b").length === 10_005);
    await tab.run(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    await tab.run(() => {
      globalThis.calls = { measured: 0, drawn: 0, placed: 0 };
      const { getBoundingClientRect } = Element.prototype;
      Element.prototype.getBoundingClientRect = function () {
        calls.measured++;
        return getBoundingClientRect.call(this);
      };
      for (const [prototype, name] of [[Element.prototype, "moveBefore"], [Node.prototype, "insertBefore"]]) {
        const place = prototype[name];
        if (place) prototype[name] = function (...given) {
          calls.placed++;
          return place.apply(this, given);
        };
      }
      const { set } = Object.getOwnPropertyDescriptor(Element.prototype, "title") ?? Object.getOwnPropertyDescriptor(HTMLElement.prototype, "title");
      Object.defineProperty(HTMLElement.prototype, "title", { set(text) { calls.drawn++; set.call(this, text); } });
    });
    database.run(`BEGIN; DELETE FROM player WHERE id % 400 = 100; UPDATE player SET score = score + 50.5 WHERE id % 400 = 200;
      UPDATE player SET name = name || '!' WHERE id % 400 = 300; INSERT INTO player (id, name, team, score)
      SELECT id + 100000, 'new', team, score + 0.1 FROM player WHERE id % 400 = 0; COMMIT`);
    const order = database.run("SELECT name FROM player ORDER BY team, score").trim().split("\n");
    await tab.until((text) => [...document.querySelectorAll("ul b")].map((node) => node.textContent).join(" ") === text, order.join(" "));
    const { measured, drawn, placed } = await tab.run(() => calls);
    assert.equal(drawn, 75, "25 are moved, 25 updated and 25 inserted");
    assert.equal(placed, 50);
    assert.ok(measured < 500, `${measured} measurements`);
  });

  test("values are written by the type of their column, or by what they are", async () => {
    await open();
    assert.deepEqual(await tab.run(() => [...document.querySelectorAll("[title]")].slice(0, 2).map(({ title }) => title)),
      ["10.0 1970 –", "20.0 – –"]);
  });

  test("the custom element takes formats too, at any time", async () => {
    tab = await browser.open(`${server.url}element.html`);
    const text = (expected) => document.querySelector("didchange-list li")?.textContent.replace(/\s+/g, " ") === expected;
    await tab.until(text, "Ada 0 ");
    await tab.run(() => {
      document.querySelector("didchange-list").formats = {
        date: (value) => Object.assign(document.createElement("time"), { textContent: `born ${value}` }), null: () => "none" };
    });
    await tab.until(text, "Ada born 0 none");
    assert.equal(await tab.run(() => document.querySelectorAll("didchange-list time").length), 4, "NULL has no type");
  });
});
