// A list of which a window is live, in a real browser: what it shows is what the server has, and what it transfers.

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { Middle } from "./support/middle.mjs";
import { eventually, noServer } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";
import { noBrowser } from "./support/webdriver.mjs";

const count = 5000;
const [rowHeight, height] = [30, 600];
const screen = height / rowHeight;

const page = `<!doctype html><link rel="icon" href="favicon.svg">
<div id="list" style="height: ${height}px"></div>
<script type="module">
  import { FetchedRecordsController } from "./didchange.js";
  import { VirtualList } from "./didchange/virtualList.js";
  globalThis.show = (query) => {
    globalThis.controller = new FetchedRecordsController("v1/queries/" + query);
    globalThis.list = new VirtualList(document.getElementById("list"), controller, {
      rowHeight: ${rowHeight}, sectionHeight: ${rowHeight},
      row: (record, node) => { node.textContent = record ? record.id + " " + record.name : "…"; },
      section: ({ name, numberOfRecords }, node) => { node.textContent = name + ": " + numberOfRecords; },
    });
  };
</script>`;

/** What is in sight, from top to bottom: `[y, text, offset]`; the offset of a section's head is null. */
const inSight = () => {
  const { top, bottom } = list.scroller.getBoundingClientRect();
  return [...list.layer.children].map((node) => [node.getBoundingClientRect(), node])
    .filter(([box]) => box.bottom > top + 1 && box.top < bottom - 1)
    .map(([box, node]) => [Math.round(box.top - top), node.textContent, node.ariaRowIndex && node.ariaRowIndex - 1])
    .sort((a, b) => a[0] - b[0]);
};

describe("a virtual list", { skip: noBrowser || noServer, timeout: 600_000 }, () => {
  let browser, database, server, middle, tab;

  stage({
    browser: true, pages: { "list.html": page },
    sql: "CREATE TABLE item (id INTEGER PRIMARY KEY, rank INTEGER, kind TEXT, name TEXT, note TEXT)",
    configuration: `
queries:
  items:
    table: item
    where: id <= :most
    orders: {rank: [rank], backwards: [rank DESC]}
    parameters: {most: {type: integer, default: 1000000}}
  kinds: {table: item, order: [kind, rank], section: kind}
`,
  }, (made) => ({ browser, database, server } = made));

  beforeEach(async () => {
    // So wide that what a window has in common with another is worth more than a snapshot. Between each two there is room; ten of a kind for each of the first, and the last has the rest.
    database.run(`DELETE FROM item; WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ${count})
      INSERT INTO item SELECT n, 10 * n, printf('%03d', min(n / 10, 50)), 'item ' || n, hex(zeroblob(100)) FROM number`);
    middle = await new Middle(server).start();
    tab = await browser.open(`${middle.url}list.html`);
  });

  afterEach(async () => {
    assert.deepEqual((await browser.console()).filter(({ level }) => level === "SEVERE"), []);
    await tab.close();
    await middle.stop();
  });

  const open = (query) => tab.until((query) => globalThis.show && (show(query), true), query);

  /** Waits until what is in sight is what the server has there, without a gap, and gives its rows. */
  async function rowsInSight(query = "items", more = "") {
    let [seen, expected] = [[], []];
    await eventually(async () => {
      const all = await tab.run(inSight);
      seen = all.filter(([, , offset]) => offset !== null);
      if (seen.length < 1) return false;
      const [, , first] = seen[0];
      const address = `${server.url}v1/queries/${query}/records?offset=${first}&limit=${seen.length}${more}`;
      const { records, numberOfRecords } = await (await fetch(address)).json();
      expected = records.map(({ record: { id, name } }, n) => [`${id} ${name}`, first + n]);
      const isFull = all.length >= Math.min(screen - 1, numberOfRecords);
      return isFull && JSON.stringify(seen.map(([, ...row]) => row)) === JSON.stringify(expected);
    }, "what the server has is in sight").catch((error) => {
      assert.deepEqual(seen.map(([, ...row]) => row), expected, error.message);
      throw error;
    });
    return seen;
  }

  const scrollTo = (row) => tab.run((y) => { list.scroller.scrollTop = y; }, row * rowHeight);
  const idsOf = (rows) => rows.map(([, text]) => Number(text.split(" ")[0]));

  const streams = () => [...middle.of("/v1/events"), ...middle.flowing];

  /** How often the server was asked for a stream. */
  const requests = () => streams().length;

  /** The events on the wire. */
  const events = () => streams().flatMap(({ text }) => [...text.matchAll(/^event: (\w+)\n(?:id: .*\n)?data: (.*)$/gm)].map(([, event, data]) => ({ event, data: JSON.parse(data) })));

  /** The keys of all records that came, each time they came. */
  const arrived = () => events().flatMap(({ event, data }) =>
    event === "snapshot" ? data.records.map(({ key }) => key[0])
    : event === "change" && data.type !== "deletion" ? [data.key[0]] : []);

  test("while it is scrolled, about those rows come that come into view", async (t) => {
    await open("items");
    await rowsInSight();
    const [steps, by] = [60, 15];
    let shortest = Infinity;
    for (let step = 1; step <= steps; step++) {
      const began = performance.now();
      await scrollTo(step * by);
      await rowsInSight();
      shortest = Math.min(shortest, performance.now() - began);
    }
    const keys = arrived();
    const passed = steps * by + screen;
    // At the highest speed that there was: a busy machine makes steps longer, and shorter after that.
    const half = 500 * by / shortest;
    t.diagnostic(`${keys.length} rows on the wire, ${new Set(keys).size} of them different, for ${passed} in view`);
    assert.ok(new Set(keys).size <= passed + 5 * screen + half, "no more than may be in view in half a second");
    // A snapshot repeats what two windows share, where that is shorter than to be told what leaves; and
    // before it is known that windows should not grow, one has grown.
    assert.ok(keys.length <= 2 * passed + 20 * screen, `${keys.length} rows for ${passed}`);
    const before = keys.length;
    for (let step = 1; step <= 4; step++) {
      await scrollTo(steps * by - step * by);
      await rowsInSight();
    }
    assert.ok(arrived().length - before <= 2 * 4 * by + 10 * screen, "and back");
  });

  for (const held of ["requests", "answers"]) {
    test(`a commit while a window is on its way, whose ${held} wait, is in what is shown then`, async () => {
      await open("items");
      await rowsInSight();
      for (const row of [100, 150, 2000, 1900]) {
        let release;
        middle.gate = { part: "/v1/events", [held]: new Promise((resolve) => (release = resolve)) };
        const asked = requests();
        await scrollTo(row);
        if (held === "answers") await eventually(() => requests() > asked, "it asks for another window");
        // Above all, in view, at its end.
        const at = 10 * (row + 5);
        database.run(`INSERT INTO item (rank, kind, name) VALUES (1, '000', 'above ${row}');
          DELETE FROM item WHERE rank = ${at}; UPDATE item SET name = name || ' changed' WHERE rank = ${at + 20};
          UPDATE item SET rank = ${at + 55} WHERE rank = ${at + 10}; INSERT INTO item (rank, kind, name) VALUES (${at + 45}, '000', 'new ${row}')`);
        release();
        middle.gate = null;
        const texts = (await rowsInSight()).map(([, text]) => text).join(", ");
        assert.match(texts, /changed/);
        assert.match(texts, new RegExp(`new ${row}`));
      }
    });
  }

  test("commits without a pause while it is scrolled end in what the server has", async () => {
    await open("items");
    await rowsInSight();
    for (let step = 1; step <= 30; step++) {
      await scrollTo(step * 40);
      const at = 10 * (step * 40 + 3);
      database.run(`INSERT INTO item (rank, kind, name) VALUES (${step}, '000', 'above'), (${at + 1}, '000', 'within');
        DELETE FROM item WHERE rank IN (${at + 30}, ${20000 + step * 10}); UPDATE item SET name = 'changed' WHERE rank = ${at}`);
    }
    await rowsInSight();
    await scrollTo(0);
    await rowsInSight();
  });

  test("it jumps to the end and back", async () => {
    await open("items");
    await rowsInSight();
    const lastOf = (rows) => rows.at(-1)[1];
    for (let time = 0; time < 3; time++) {
      await tab.run((offset) => list.showOffset(offset), count - 1);
      assert.equal(lastOf(await rowsInSight()), `${count} item ${count}`);
      await scrollTo(0);
      assert.equal((await rowsInSight())[0][1], "1 item 1");
    }
    // The last of several places counts.
    for (const row of [4000, 100, 3000, 200, 2500]) await scrollTo(row);
    assert.equal((await rowsInSight())[0][2], 2500);
  });

  test("a list that shrinks below where it is shows its end", async () => {
    await open("items");
    await rowsInSight();
    await scrollTo(count);
    await rowsInSight();
    for (const left of [400, 50, 7]) {
      database.run(`DELETE FROM item WHERE id > ${left}`);
      await eventually(async () => (await tab.run(() => list.numberOfRecords)) === left, `${left} are left`);
      assert.equal(idsOf(await rowsInSight()).at(-1), left);
      assert.equal(await tab.run(() => list.sizer.offsetHeight), left * rowHeight);
    }
    database.run("DELETE FROM item");
    await eventually(async () => (await tab.run(inSight)).length === 0, "nothing is left");
    database.run("INSERT INTO item (rank, kind, name) VALUES (1, '000', 'again')");
    await eventually(async () => /again/.test(await tab.run(inSight)), "something comes");
  });

  test("a list that is empty for a moment, and then as it was at a commit that it knows, is shown again", async () => {
    await open("items");
    await rowsInSight();
    await scrollTo(1000);
    await rowsInSight();
    // As a window of a server that is one commit behind: the next event brings it to the present.
    await tab.run(async () => {
      const { window } = controller;
      const emptied = { fetchedRecords: [], sections: [], totalNumberOfRecords: 0 };
      for (const [name, value] of Object.entries(emptied)) Object.defineProperty(controller, name, { value, configurable: true });
      controller.dispatchEvent(new CustomEvent("snapshot", { detail: { window } }));
      await new Promise(requestAnimationFrame);
      for (const name of Object.keys(emptied)) delete controller[name];
      controller.dispatchEvent(new CustomEvent("didChange", { detail: { window } }));
    });
    await rowsInSight();
  });

  test("what comes and goes above does not move what is read", async () => {
    await open("items");
    await rowsInSight();
    await scrollTo(1000);
    const before = await rowsInSight();
    for (const sql of ["INSERT INTO item (rank, kind, name) VALUES (1, '000', 'a'), (2, '000', 'b')", "DELETE FROM item WHERE rank BETWEEN 100 AND 300"]) {
      const numberOfRecords = await tab.run(() => list.numberOfRecords);
      database.run(sql);
      await eventually(async () => (await tab.run(() => list.numberOfRecords)) !== numberOfRecords, "the list hears of it");
      const now = await rowsInSight();
      assert.deepEqual(now.map(([y, text]) => [y, text]), before.map(([y, text]) => [y, text]));
    }
  });

  test("nor does the first record in sight take the view along where it moves", async () => {
    await open("items");
    await rowsInSight();
    await scrollTo(1000);
    const before = await rowsInSight();
    database.run("UPDATE item SET rank = rank + 55 WHERE id = 1001");
    await eventually(async () => !/item 1001$/.test((await tab.run(inSight))[0][1]), "the list hears of it");
    const ids = idsOf(await rowsInSight());
    assert.deepEqual(ids, [1002, 1003, 1004, 1005, 1006, 1001, ...idsOf(before).slice(6)]);
    // Nor where it goes above those before it: as many as before are above the second.
    database.run("UPDATE item SET rank = 9975 WHERE id = 1002");
    await eventually(async () => !/item 1002$/.test((await tab.run(inSight))[0][1]), "the list hears of it");
    assert.deepEqual(idsOf(await rowsInSight()), [1000, ...ids.slice(1)]);
  });

  test("nor do commits that come between two frames, and nothing glides", async () => {
    await open("items");
    await rowsInSight();
    await scrollTo(1000);
    const before = await rowsInSight();
    await tab.run(() => {
      globalThis.frames = [];
      globalThis.nextFrame = requestAnimationFrame;
      globalThis.requestAnimationFrame = (run) => frames.push(run);
    });
    for (const first of [1, 11, 21]) {
      const numberOfRecords = await tab.run(() => list.numberOfRecords);
      database.run(`DELETE FROM item WHERE id BETWEEN ${first} AND ${first + 2}`);
      await eventually(
        async () => (await tab.run(() => list.numberOfRecords)) === numberOfRecords - 3, "the list hears of it");
    }
    const gliding = await tab.run(() => {
      globalThis.requestAnimationFrame = nextFrame;
      for (const run of frames) run(performance.now());
      return list.layer.getAnimations({ subtree: true })
        .filter(({ effect }) => effect.getKeyframes().some(({ transform }) => transform))
        .map(({ effect }) => effect.target.textContent);
    });
    assert.deepEqual(gliding, []);
    const now = await rowsInSight();
    assert.deepEqual(now.map(([y, text]) => [y, text]), before.map(([y, text]) => [y, text]));
  });

  test("it goes on to other parameters and another order, wherever it is", async () => {
    await open("items");
    await rowsInSight();
    await scrollTo(3000);
    await rowsInSight();
    await tab.run(() => { controller.order = "backwards"; });
    await eventually(async () => /item 2000$/.test((await tab.run(inSight))[0]?.[1]), "the other end");
    await rowsInSight("items", "&order=backwards");
    await tab.run(() => { controller.parameters = { most: 500 }; });
    await eventually(async () => (await tab.run(() => list.numberOfRecords)) === 500, "500 are left");
    assert.equal(idsOf(await rowsInSight("items", "&order=backwards&most=500")).at(-1), 1);
    await tab.run(() => { controller.parameters = {}; });
    await eventually(async () => (await tab.run(() => list.numberOfRecords)) === count, "all are back");
    await rowsInSight("items", "&order=backwards");
  });

  test("sections have their heads, and one can go to each", async () => {
    await open("kinds");
    await rowsInSight("kinds");
    assert.deepEqual((await tab.run(inSight))[0], [0, "000: 9", null]);
    for (const index of [50, 20, 49]) {
      await tab.run((index) => list.showSection(index), index);
      await rowsInSight("kinds");
      const [head, row] = await tab.run(inSight);
      const name = String(index).padStart(3, "0");
      assert.deepEqual(head, [0, `${name}: ${index === 50 ? count - 499 : 10}`, null]);
      assert.deepEqual(row, [rowHeight, `${index * 10} item ${index * 10}`, index * 10 - 1]);
      assert.equal(await tab.run(() => list.pinned.textContent), head[1]);
      assert.equal(await tab.run(() => list.currentSection), index);
    }
  });

  test("sections that come and go above leave the reading place, and heads follow", async () => {
    await open("kinds");
    await rowsInSight("kinds");
    await tab.run(() => list.showSection(30));
    const before = await rowsInSight("kinds");
    const places = (rows) => rows.map(([y, text]) => [y, text]);
    // As many go as the window has above what is in sight: the first record in sight is not in it then.
    for (const [sql, length] of [["DELETE FROM item WHERE kind IN ('003', '004')", 49],
      ["INSERT INTO item (rank, kind, name) VALUES (1, '0000', 'a'), (1, '0050', 'b')", 51]]) {
      database.run(sql);
      await eventually(async () => (await tab.run(() => list.sections.length)) === length, `there are ${length} sections`);
      assert.deepEqual(places(await rowsInSight("kinds")), places(before));
    }
    // Some above, and some in view, which those below take the place of.
    database.run("DELETE FROM item WHERE id BETWEEN 200 AND 204 OR id BETWEEN 300 AND 302");
    await eventually(async () => (await tab.run(() => list.numberOfRecords)) === count - 26, "eight went");
    assert.deepEqual(places(await rowsInSight("kinds"))[0], [rowHeight, "303 item 303"]);
    // One more head above, of which the window hears nothing.
    const read = places(await rowsInSight("kinds"));
    database.run("UPDATE item SET kind = '0010' WHERE id < 15 AND kind = '001'");
    await eventually(async () => (await tab.run(() => list.sections.length)) === 52, "the list looks elsewhere");
    assert.deepEqual(places(await rowsInSight("kinds")), read);
    // The section in view goes, and what is below it comes up.
    database.run("DELETE FROM item WHERE kind = '030'");
    await eventually(async () => (await tab.run(() => list.sections.length)) === 51, "a section went");
    await rowsInSight("kinds");
    const shown = await tab.run(inSight);
    assert.ok(shown.some(([, text]) => text === "031: 10"), shown.join("\n"));
    assert.ok(!shown.some(([, text]) => text.startsWith("030:")), shown.join("\n"));
  });
});
