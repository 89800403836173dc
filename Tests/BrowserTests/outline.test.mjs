// How long a sectioned list is, and whether that is of the same commit as the records at hand.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fits, Outline } from "../../Public/didchange/outline.js";

const whole = [["a", 3], ["b", 2], ["c", 4]].map(([name, numberOfRecords]) => ({ name, numberOfRecords }));
const window = (...parts) => parts.map(([name, count]) => ({ name, records: Array(count).fill({}) }));
const heights = { rowHeight: 10, sectionHeight: 20 };

const answer = (sections, tag) => new Response(JSON.stringify({ sections }), { headers: { ETag: tag } });

describe("an outline", () => {
  test("fits a window that has the same sections there", () => {
    assert.ok(fits(whole, 0, window(["a", 3], ["b", 2], ["c", 4])));
    assert.ok(fits(whole, 2, window(["a", 1], ["b", 2], ["c", 1])));
    assert.ok(fits(whole, 3, window(["b", 2])));
    assert.ok(fits(whole, 3, window(["b", 0])));
    assert.ok(fits([{ name: 10n, numberOfRecords: 1 }], 0, window([10n, 1])));
  });

  test("does not fit where a boundary is elsewhere, or a section has another name", () => {
    assert.ok(!fits(whole, 0, window(["a", 2], ["b", 2])));
    assert.ok(!fits(whole, 1, window(["a", 3])));
    assert.ok(!fits(whole, 3, window(["b", 3])));
    assert.ok(!fits(whole, 3, window(["x", 2])));
    assert.ok(!fits(whole, 8, window(["c", 2])));
    assert.ok(!fits([], 0, window(["a", 1])));
    assert.ok(!fits(whole, 0, window([null, 3])));
  });

  test("is asked for once at a time, and only where it is wanted still", async () => {
    const outline = new Outline();
    const asked = [];
    const waiting = [];
    const controller = {
      address: (path) => path,
      fetch: (_, { headers }) => {
        asked.push(headers["If-None-Match"]);
        return new Promise((done) => waiting.push(done));
      },
    };
    const first = outline.fetch(controller, undefined, () => true);
    const second = outline.fetch(controller, undefined, () => false);
    const third = outline.fetch(controller, undefined, () => true);
    await Promise.resolve();
    assert.deepEqual(asked, [undefined]);
    waiting[0](answer(whole, "one"));
    const { sections, tag } = await first;
    assert.deepEqual([sections, tag, outline.sections], [whole, "one", []]);
    outline.setSections(sections, heights, tag);
    assert.equal(outline.height, 3 * 20 + 9 * 10);
    assert.equal(await second, null);
    // A failure is no end.
    waiting[1](Promise.reject(new TypeError("unreachable")));
    assert.equal(await third, null);
    const fourth = outline.fetch(controller, undefined, () => true);
    await new Promise(setImmediate);
    waiting[2](new Response(null, { status: 304 }));
    assert.equal(await fourth, null);
    assert.equal(asked.at(-1), "one");
  });
});
