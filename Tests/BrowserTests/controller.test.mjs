// The controller, over a hub of its own, with a stream and a server played by the test.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FetchedRecordsController, keyOf } from "../../Public/didchange.js";
// Loaded where there is no SharedWorker, at the first controller: no test shall wait for the disk.
import "../../Public/didchange/hub.js";
import { closedAfterEach, PlayedStream, settled, streams } from "./support/played.mjs";

const controllers = closedAfterEach();

const snapshot = {
  query: "players", version: "a-1", commit: 7, numberOfRecords: 3,
  sections: [
    { index: 0, name: "Blue", indexTitle: "B", numberOfRecords: 2, offset: 0 },
    { index: 1, name: "Red", indexTitle: "R", numberOfRecords: 1, offset: 2 },
  ],
  records: [
    { key: [1], record: { id: 1, team: "Blue" } },
    { key: [2], record: { id: 2, team: "Blue" } },
    { key: [3], record: { id: 3, team: "Red" } },
  ],
};
const deletion = { type: "deletion", indexPath: [0, 1], key: [2], record: { id: 2, team: "Blue" } };
const willChange = { query: "players", from: "a-1", version: "a-2", commit: 8, numberOfChanges: 1 };
const didChange =
  { query: "players", from: "a-1", version: "a-2", commit: 8, numberOfRecords: 2, numberOfSections: 2 };

/** The unit of one commit, as a stream of several queries sends it. */
async function commit(stream, ...events) {
  for (const [name, data] of events) await stream.send(name, data);
  await stream.send("commit", { commit: 8 }, "s-2");
}

async function opened(options) {
  const controller = new FetchedRecordsController("http://127.0.0.1:1/v1/queries/players", options);
  controllers.push(controller);
  const heard = [];
  for (const name of ["snapshot", "willChange", "sectionChange", "change", "didChange", "error", "recovered"]) {
    controller.addEventListener(name, () => heard.push(name));
  }
  controller.addEventListener("state", ({ detail }) => heard.push(detail));
  await settled();
  return { controller, heard, stream: streams.at(-1) };
}

async function live(options) {
  const all = await opened(options);
  await all.stream.open();
  await all.stream.send("snapshot", snapshot, "s-1");
  all.heard.length = 0;
  return all;
}

function answers(...responses) {
  const asked = [];
  globalThis.fetch = async (url) => {
    asked.push(new URL(url));
    const answer = responses.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return asked;
}

test("parameters stand in the address of the stream", async () => {
  const { stream, controller } = await opened({ parameters: { country: "Côte d’Ivoire", minimum: 3 }, window: { offset: 20, limit: 10 } });
  assert.equal(stream.url.pathname, "/v1/events");
  const [name, parameters] = stream.url.searchParams.get("query").split("?");
  assert.equal(name, "players");
  assert.deepEqual(Object.fromEntries(new URLSearchParams(parameters)),
    { country: "Côte d’Ivoire", minimum: "3", offset: "20", limit: "10" });
  assert.equal(stream.url.searchParams.get("lastEventId"), null);
  assert.equal(controller.state, "connecting");
});

test("what is undefined is not asked for", async () => {
  const { stream } = await opened({ parameters: { country: undefined }, window: { offset: 0, limit: undefined } });
  assert.equal(stream.url.searchParams.get("query"), "players?offset=0");
});

test("a snapshot makes the result and the state live", async () => {
  const { controller, heard, stream } = await opened();
  await stream.open();
  assert.equal(controller.state, "connecting");
  await stream.send("snapshot", snapshot, "s-1");
  assert.deepEqual(heard, ["snapshot", "live"]);
  assert.equal(controller.numberOfRecords, 3);
  assert.deepEqual(controller.sections.map(({ name }) => name), ["Blue", "Red"]);
  assert.deepEqual(controller.fetchedRecords.map(({ id }) => id), [1, 2, 3]);
  assert.deepEqual(Object.entries(controller.recordAt([1, 0])), [["id", 3], ["team", "Red"]]);
  assert.deepEqual(keyOf(controller.recordAt([1, 0])), [3]);
  assert.equal(controller.recordAt([1, 1]), undefined);
  assert.equal(controller.recordAt([5, 0]), undefined);
});

test("a change set is given out whole, the old result before it and the new one after", async () => {
  const { controller, heard, stream } = await live();
  const counts = [];
  for (const name of ["willChange", "change", "didChange"]) {
    controller.addEventListener(name, () => counts.push(controller.numberOfRecords));
  }
  await stream.send("willChange", willChange);
  await stream.send("change", deletion);
  assert.deepEqual(heard, []);
  await stream.send("didChange", didChange);
  assert.deepEqual(heard, [], "other queries of the same commit are still to come");
  await stream.send("commit", { commit: 8 }, "s-2");
  assert.deepEqual(heard, ["willChange", "change", "didChange"]);
  assert.deepEqual(counts, [3, 2, 2]);
  assert.deepEqual(controller.fetchedRecords.map(({ id }) => id), [1, 3]);
});

test("a change set that breaks off is forgotten, and it comes back before it", async () => {
  const { controller, heard, stream } = await live();
  await stream.send("willChange", willChange);
  await stream.send("change", deletion);
  await stream.fail(PlayedStream.CONNECTING);
  assert.equal(controller.state, "stale");
  await settled();
  assert.equal(streams.length, 2);
  assert.equal(streams[1].url.searchParams.get("lastEventId"), "s-1");
  await streams[1].open();
  assert.equal(controller.state, "live");
  await commit(streams[1], ["willChange", willChange], ["change", deletion], ["didChange", didChange]);
  assert.deepEqual(heard, ["stale", "live", "willChange", "change", "didChange"]);
  assert.equal(controller.numberOfRecords, 2);
});

const misfits = {
  "a change set that starts elsewhere": [["willChange", { ...willChange, from: "a-0" }], ["didChange", didChange]],
  "an end without a beginning": [["didChange", didChange]],
  "an end of another change set": [["willChange", willChange], ["didChange", { ...didChange, version: "a-3" }]],
  "a change that does not fit": [
    ["willChange", willChange], ["change", { ...deletion, indexPath: [0, 7] }], ["didChange", didChange],
  ],
  "a wrong count": [["willChange", willChange], ["didChange", didChange]],
};
for (const [what, events] of Object.entries(misfits)) {
  test(`${what} is answered by asking for a snapshot`, async () => {
    const { controller, heard, stream } = await live();
    await commit(stream, ...events);
    assert.equal(controller.state, "stale");
    assert.equal(controller.numberOfRecords, 3, "the old result stays until the snapshot is here");
    await settled();
    assert.equal(streams.length, 2);
    assert.equal(streams[1].url.searchParams.get("lastEventId"), null);
    await streams[1].open();
    assert.equal(controller.state, "stale");
    await streams[1].send("snapshot", { ...snapshot, version: "a-9" }, "s-9");
    assert.deepEqual(heard, ["stale", "snapshot", "live"]);
  });
}

test("events of a stream that was left are not heard", async () => {
  const { controller, stream } = await live();
  await commit(stream, ["didChange", didChange]);
  await settled();
  await stream.send("snapshot", { ...snapshot, numberOfRecords: 99 });
  await stream.fail(PlayedStream.CLOSED);
  assert.equal(controller.numberOfRecords, 3);
  assert.equal(streams.length, 2);
});

test("after a 5xx it comes back with the last version", async () => {
  const { controller, stream } = await live();
  const asked = answers(new Response("", { status: 503 }), new TypeError("refused"), new Response("ok"));
  await stream.fail(PlayedStream.CLOSED);
  assert.equal(controller.state, "stale");
  await settled();
  assert.equal(asked.length, 3);
  assert.equal(streams.length, 2);
  assert.equal(streams[1].url.searchParams.get("lastEventId"), "s-1");
  assert.equal(streams[1].url.searchParams.get("snapshot"), null);
  await streams[1].open();
  assert.equal(controller.state, "live");
});

/** How long each wait of a test would have lasted; they all end at once. Those for what is silent go on. */
function delaysOf(t) {
  const delays = [];
  t.mock.method(globalThis, "setTimeout", (action, delay) => {
    if ([3000, 32_000].includes(delay)) return;
    delays.push(delay);
    queueMicrotask(action);
  });
  return delays;
}

test("each failure waits longer, up to half a minute", async (t) => {
  const { stream } = await live();
  const delays = delaysOf(t);
  Math.random = () => 1;
  let left = 9;
  globalThis.fetch = async () => new Response("", { status: left-- > 0 ? 502 : 200 });
  await stream.fail(PlayedStream.CLOSED);
  while (streams.length < 2) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(delays, [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000, 30000]);
});

test("it waits at least as long as Retry-After says", async (t) => {
  const { stream } = await live();
  const delays = delaysOf(t);
  const overloaded = new Response("", { status: 503, headers: { "Retry-After": "7" } });
  answers(overloaded, new Response("ok"));
  await stream.fail(PlayedStream.CLOSED);
  while (streams.length < 2) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(delays, [0, 7000]);
});

test("a 204 ends it for good", async () => {
  const { controller, heard, stream } = await live();
  answers(new Response(null, { status: 204 }));
  await stream.fail(PlayedStream.CLOSED);
  await settled();
  assert.deepEqual(heard, ["stale", "closed"]);
  assert.equal(streams.length, 1);
  assert.equal(controller.numberOfRecords, 3, "the last result stays readable");
});

test("a refusal ends it and tells why", async () => {
  const { controller, heard, stream } = await opened();
  let problem;
  controller.addEventListener("error", ({ detail }) => (problem = detail));
  const body = { status: 400, title: "Unknown parameter", detail: "declared: country" };
  answers(new Response(JSON.stringify(body), { status: 400 }));
  await stream.fail(PlayedStream.CLOSED);
  await settled();
  assert.deepEqual(heard, ["error", "error", "closed"], "first there was no answer");
  assert.deepEqual(problem, body);
  assert.equal(streams.length, 1);
});

test("a refusal without a problem document still has a status", async () => {
  const { controller, stream } = await opened();
  let problem;
  controller.addEventListener("error", ({ detail }) => (problem = detail));
  answers(new Response("<h1>no</h1>", { status: 403, statusText: "Forbidden" }));
  await stream.fail(PlayedStream.CLOSED);
  await settled();
  assert.deepEqual(problem, { status: 403, title: "Forbidden", detail: "" });
});

test("an error of the query leaves the result and the stream as they are", async () => {
  const { controller, heard, stream } = await live();
  await stream.send("fetchError", { query: "players", status: 500, title: "no such table", detail: "" });
  assert.deepEqual(heard, ["error"]);
  assert.equal(controller.state, "live");
  assert.equal(controller.numberOfRecords, 3);
  await stream.send("recovered", { query: "players", version: "a-1", commit: 9 });
  assert.deepEqual(heard, ["error", "recovered"]);
});

test("a closed controller stays closed, whatever still arrives", async () => {
  const { controller, heard, stream } = await live();
  let answer;
  globalThis.fetch = () => new Promise((resolve) => (answer = resolve));
  await stream.fail(PlayedStream.CLOSED);
  await settled();
  controller.close();
  await settled();
  answer(new Response("ok"));
  await settled();
  assert.equal(streams.length, 1);
  assert.deepEqual(heard, ["stale", "closed"]);
});

test("closing while it waits to come back stops the waiting", async () => {
  const { controller, stream } = await live();
  await stream.fail(PlayedStream.CLOSED);
  controller.close();
  await settled();
  assert.equal(streams.length, 1);
});

test("an index path is found by key, also after a change", async () => {
  const { controller, stream } = await live();
  assert.deepEqual(controller.indexPathFor(3), [1, 0]);
  assert.deepEqual(controller.indexPathFor([2]), [0, 1]);
  assert.equal(controller.indexPathFor(4), undefined);
  assert.deepEqual(controller.sectionIndexTitles, ["B", "R"]);
  await commit(stream, ["willChange", willChange], ["change", deletion], ["didChange", didChange]);
  assert.equal(controller.indexPathFor(2), undefined);
});

test("for await gives the latest sections, and ends when it is closed", async () => {
  const { controller, stream } = await live();
  const sizes = [];
  const reading = (async () => {
    for await (const sections of controller) sizes.push(sections[0].records.length);
  })();
  await settled();
  await commit(stream, ["willChange", willChange], ["change", deletion], ["didChange", didChange]);
  await settled();
  controller.close();
  await reading;
  assert.deepEqual(sizes, [2, 1]);
});

test("a window that moves shows the old records until the new ones are here", async () => {
  const { controller, heard } = await live({ window: { offset: 0, limit: 3 } });
  controller.window = { offset: 3, limit: 3 };
  await settled();
  assert.equal(streams.length, 2);
  assert.equal(streams[1].url.searchParams.get("query"), "players?offset=3&limit=3&lastEventId=a-1");
  assert.equal(controller.numberOfRecords, 3);
  await streams[1].open();
  await streams[1].send("snapshot", { ...snapshot, version: "b-1" }, "t-1");
  assert.deepEqual(heard, ["snapshot"], "it was live all the time");
});

test("what is shown is pending from when something else is asked for until it is here", async () => {
  const { controller, heard } = await live({ parameters: { team: "Blue" } });
  controller.addEventListener("pending", ({ detail }) => heard.push(detail));
  controller.parameters = { team: "Red" };
  assert.ok(controller.isPending);
  await settled();
  assert.ok(controller.isPending);
  await streams.at(-1).open();
  assert.ok(controller.isPending, "a stream has begun, and nothing has come");
  await streams.at(-1).send("snapshot", { ...snapshot, version: "b-1" }, "t-1");
  assert.ok(!controller.isPending);
  assert.deepEqual(heard, [true, "snapshot", false]);
  controller.parameters = { team: "Red", left: undefined };
  controller.window = { limit: 5 };
  assert.ok(!controller.isPending, "the same request, or a part of it");
});

test("what other parameters leave as it is becomes theirs", async () => {
  const { controller, heard } = await live({ parameters: { team: "Blue" } });
  controller.addEventListener("pending", ({ detail }) => heard.push(detail));
  controller.parameters = { team: "blue" };
  await settled();
  await streams.at(-1).open();
  assert.ok(controller.isPending, "a difference may be on its way, however long that takes");
  await streams.at(-1).send("heartbeat", {});
  assert.ok(!controller.isPending, "nothing came before it");
  await streams.at(-1).send("heartbeat", {});
  assert.deepEqual(heard, [true, false]);
  assert.equal(controller.state, "live");
});
