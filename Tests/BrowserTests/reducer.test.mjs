// What the shared vectors cannot show: refusals, sharing, cost, and random change sets.

import assert from "node:assert/strict";
import { test } from "node:test";
import { applyChangeSet, ChangeSetError } from "../../Public/didchange.js";
import { mulberry32 } from "./support/random.mjs";

const section = (name, ...ids) =>
  ({ name, indexTitle: name?.[0] ?? "", records: ids.map((id) => ({ id })) });
const change = (data) => ({ event: "change", data });
const sectionChange = (data) => ({ event: "sectionChange", data });
const two = { sections: [section("Blue", 1, 2), section("Red", 3)] };

const refused = {
  "an insertion beyond the end": change({ type: "insertion", newIndexPath: [0, 3], record: {} }),
  "an insertion before the start": change({ type: "insertion", newIndexPath: [0, -1], record: {} }),
  "an insertion into no section": change({ type: "insertion", newIndexPath: [2, 0], record: {} }),
  "a deletion beyond the end": change({ type: "deletion", indexPath: [1, 1] }),
  "a deletion before the start": change({ type: "deletion", indexPath: [1, -1] }),
  "an update of nothing": change({ type: "update", newIndexPath: [0, 2], record: {} }),
  "a move from nowhere": change({ type: "move", indexPath: [0, 9], newIndexPath: [0, 0], record: {} }),
  "half an index path": change({ type: "deletion", indexPath: [0] }),
  "no index path": change({ type: "update", record: {} }),
  "too long an index path": change({ type: "deletion", indexPath: [0, 0, 0] }),
  "a fractional item": change({ type: "insertion", newIndexPath: [0, 0.5], record: {} }),
  "a section deleted with its records": sectionChange({ type: "deletion", section: 1 }),
  "the deletion of no section": sectionChange({ type: "deletion", section: 2 }),
  "a section inserted beyond the end": sectionChange({ type: "insertion", section: 3, name: "X" }),
  "an unknown type": change({ type: "upsert", newIndexPath: [0, 0], record: {} }),
  "an unknown section change": sectionChange({ type: "move", section: 0 }),
  "an event of another kind": { event: "snapshot", data: {} },
};
for (const [what, event] of Object.entries(refused)) {
  test(`${what} is refused and leaves the old result alone`, () => {
    const before = JSON.stringify(two);
    assert.throws(() => applyChangeSet(two, [event]), ChangeSetError);
    assert.equal(JSON.stringify(two), before);
  });
}

test("two deletions of one record are refused", () => {
  const deletion = change({ type: "deletion", indexPath: [0, 0] });
  assert.throws(() => applyChangeSet(two, [deletion, deletion]), ChangeSetError);
});

test("two insertions at one place are refused", () => {
  const insertion = change({ type: "insertion", newIndexPath: [0, 0], record: { id: 9 } });
  assert.throws(() => applyChangeSet(two, [insertion, insertion]), ChangeSetError);
});

test("a record inserted and updated by one change set does not touch the event", () => {
  const inserted = { id: 9 };
  const result = applyChangeSet(two, [
    change({ type: "insertion", newIndexPath: [0, 0], record: inserted }),
    change({ type: "update", indexPath: [0, 0], newIndexPath: [0, 1], record: { id: 1, x: 1 } }),
  ]);
  assert.deepEqual(result.sections[0].records, [{ id: 9 }, { id: 1, x: 1 }, { id: 2 }]);
  assert.equal(result.sections[0].records[0], inserted);
});

test("sections and records that nothing happened to are the same objects", () => {
  const update = { type: "update", indexPath: [0, 1], newIndexPath: [0, 1], record: { id: 2, x: 1 } };
  const result = applyChangeSet(two, [change(update)]);
  assert.equal(result.sections[1], two.sections[1]);
  assert.equal(result.sections[0].records[0], two.sections[0].records[0]);
  assert.equal(result.sections[0].records[1], update.record);
});

test("a change set without changes makes an equal result", () => {
  assert.deepEqual(applyChangeSet(two, []), two);
});

test("fifty thousand changes to two hundred thousand records take a processor less than two seconds", () => {
  const ids = Array.from({ length: 200_000 }, (_, id) => id);
  const old = { sections: [{ name: null, indexTitle: "", records: ids.map((id) => ({ id })) }] };
  const events = ids.filter((id) => id % 4 === 0).map((id, n) => change(
    { type: "move", indexPath: [0, id], newIndexPath: [0, 199_999 - n], record: { id } }));
  const start = process.cpuUsage();
  const result = applyChangeSet(old, events);
  // Splicing one by one moves 10^10 array slots here.
  assert.ok(process.cpuUsage(start).user < 2_000_000);
  assert.equal(result.sections[0].records[0].id, 1);
  assert.equal(result.sections[0].records.at(-1).id, 0);
});

test("random change sets mean the five steps of the protocol", () => {
  const seed = Number(process.env.SEED ?? Date.now() % 1e6);
  const random = mulberry32(seed);
  let result = { sections: [section("s0", 0, 1, 2)] };
  for (let step = 0; step < 2000; step++) {
    const events = randomChangeSet(result, random, step);
    const expected = fiveSteps(result, events);
    assert.deepEqual(applyChangeSet(result, shuffled(events, random)), expected,
      `SEED=${seed}, step ${step}\n${JSON.stringify({ old: result, events })}`);
    result = expected;
  }
});

/** protocol §3, step by step, with splices: the slow and obvious way. */
function fiveSteps({ sections }, events) {
  const next = sections.map((old) => ({ ...old, records: [...old.records] }));
  const of = (event, ...types) =>
    events.filter((it) => it.event === event && types.includes(it.data.type)).map((it) => it.data);
  const ascending = (path) => (a, b) => a[path][0] - b[path][0] || a[path][1] - b[path][1];
  for (const { indexPath: [s, i] } of
    of("change", "deletion", "move").sort(ascending("indexPath")).reverse()) {
    next[s].records.splice(i, 1);
  }
  const bySection = (a, b) => a.section - b.section;
  for (const { section } of of("sectionChange", "deletion").sort(bySection).reverse()) {
    next.splice(section, 1);
  }
  for (const { section, name, indexTitle } of of("sectionChange", "insertion").sort(bySection)) {
    next.splice(section, 0, { name, indexTitle, records: [] });
  }
  for (const { newIndexPath: [s, i], record } of
    of("change", "insertion", "move").sort(ascending("newIndexPath"))) {
    next[s].records.splice(i, 0, record);
  }
  for (const { newIndexPath: [s, i], record } of of("change", "update")) next[s].records[i] = record;
  return { sections: next };
}

/** A valid change set: built forwards, by choosing what stays and what is put between. */
function randomChangeSet({ sections }, random, step) {
  const events = [];
  const pick = (n) => Math.floor(random() * n);
  const kept = sections.map((old, s) => ({ s, goes: random() < 0.2, records: [...old.records.keys()] }));
  const moving = [];
  for (const each of kept) {
    each.records = each.records.filter((i) => {
      const fate = each.goes ? pick(2) : pick(6);
      if (fate === 0) events.push(change({ type: "deletion", indexPath: [each.s, i] }));
      else if (fate === 1) moving.push([each.s, i]);
      else return true;
      return false;
    }).map((i) => [each.s, i]);
    if (each.goes) events.push(sectionChange({ type: "deletion", section: each.s }));
  }
  const next = kept.filter((each) => !each.goes);
  while (next.length === 0 || random() < 0.2) next.splice(pick(next.length + 1), 0, { records: [] });
  next.forEach((each, section) => {
    if (each.s !== undefined) return;
    events.push(sectionChange({ type: "insertion", section, name: `s${step}.${section}`, indexTitle: "S" }));
  });
  const put = (from) => {
    const { records } = next[pick(next.length)];
    records.splice(pick(records.length + 1), 0, from);
  };
  for (const from of moving) put({ from });
  for (let n = pick(4); n > 0; n--) put({});
  next.forEach(({ records }, s) => records.forEach((what, i) => {
    const newIndexPath = [s, i];
    const record = { id: `${step}.${s}.${i}` };
    if (what.from) events.push(change({ type: "move", indexPath: what.from, newIndexPath, record }));
    else if (!Array.isArray(what)) events.push(change({ type: "insertion", newIndexPath, record }));
    else if (random() < 0.3) events.push(change({ type: "update", indexPath: what, newIndexPath, record }));
  }));
  return events;
}

function shuffled(list, random) {
  return list.map((each) => [random(), each]).sort((a, b) => a[0] - b[0]).map(([, each]) => each);
}
