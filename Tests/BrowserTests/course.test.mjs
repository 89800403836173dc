// Where the live window of a long list goes, in a time of its own: a million records, scrolled by so many a frame.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Course } from "../../Public/didchange/course.js";

const [numberOfRecords, screen, frame] = [1_000_000, 17, 1000 / 60];

/**
 * Scrolls for 120 frames, where each window is here after a frame and so many milliseconds.
 * @returns in how many of them a record in sight was not there, and how many records came in all
 */
function scroll(by, lagOf) {
  const course = new Course();
  let [first, now, gaps, came, moves] = [by < 0 ? numberOfRecords / 2 : 0, 1000, 0, 0, 0];
  let loaded = { offset: Math.max(0, first - 20), limit: 100 };
  let asked = loaded;
  let arrival = Infinity;
  const follow = () => {
    const next = course.next([first, first + screen], numberOfRecords, asked, now);
    if (!next) return;
    asked = next;
    arrival = now + frame + lagOf(moves++);
  };
  for (let count = 0; count < 120; count++) {
    for (const end = now + frame; ; ) {
      if (arrival > end) {
        now = end;
        break;
      }
      [now, arrival, loaded] = [arrival, Infinity, asked];
      came += loaded.limit;
      course.arrived(true, now);
      follow();
    }
    first += by;
    course.scrolled(by, screen, now);
    follow();
    if (first < loaded.offset || first + screen > loaded.offset + loaded.limit) gaps++;
  }
  return { gaps, came, passed: Math.abs(120 * by) };
}

// 1800 pixels a frame of rows of 36.
for (const [name, by] of [["down", 50], ["up", -50], ["down slowly", 8]]) {
  for (const [network, lagOf] of [
    ["a server nearby", () => 12],
    ["one 25 ms away", () => 25],
    ["one that stops to think now and then", (move) => (move % 5 === 4 ? 90 : 12)],
  ]) {
    test(`scrolled ${name}, by ${Math.abs(by)} records a frame, from ${network}: under 5 % of frames have placeholders`, (t) => {
      const { gaps, came, passed } = scroll(by, lagOf);
      t.diagnostic(`${gaps} of 120 frames; ${came} records came for ${passed}`);
      assert.ok(gaps < 6, `${gaps} of 120 frames`);
      assert.ok(came <= 4 * passed + 1000, `${came} records for ${passed}`);
    });
  }
}

test("at rest it asks for nothing, and a jump is not a speed", () => {
  const course = new Course();
  const window = { offset: 0, limit: 100 };
  assert.equal(course.next([0, screen], numberOfRecords, window, 1000), null);
  course.scrolled(5000, screen, 2000);
  assert.deepEqual(course.next([5000, 5000 + screen], numberOfRecords, window, 2000), { offset: 4983, limit: 4 * screen });
});
