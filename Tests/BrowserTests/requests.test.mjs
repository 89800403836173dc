// A controller that goes on to other parameters, another order or another window, with a server played by the test.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FetchedRecordsController } from "../../Public/didchange.js";
// Loaded where there is no SharedWorker, at the first controller: no test shall wait for the disk.
import "../../Public/didchange/hub.js";
import { askFirst, closedAfterEach, PlayedStream, settled, streams } from "./support/played.mjs";

const controllers = closedAfterEach();

const row = (id) => ({ key: [id], record: { id } });
const snapshot = (version, ids, more = {}) => ({
  query: "players", version, commit: 7, numberOfRecords: ids.length, ...more,
  sections: [{ index: 0, name: null, indexTitle: "", numberOfRecords: ids.length, offset: 0 }], records: ids.map(row),
});
const deletion = (item, id) => ({ type: "deletion", indexPath: [0, item], ...row(id) });
const insertion = (item, id) => ({ type: "insertion", newIndexPath: [0, item], ...row(id) });

async function sendChangeSet(stream, from, version, numberOfRecords, ...changes) {
  const head = { query: "players", from, version, commit: 8 };
  stream.send("willChange", { ...head, numberOfChanges: changes.length });
  for (const change of changes) stream.send("change", change);
  stream.send("didChange", { ...head, numberOfRecords, numberOfSections: 1 });
  await stream.send("commit", { commit: 8 }, `s${version}`);
}

async function opened(options) {
  const controller = new FetchedRecordsController("http://127.0.0.1:1/v1/queries/players", options);
  controllers.push(controller);
  const heard = [];
  for (const name of ["snapshot", "willChange", "change", "didChange", "error"]) {
    controller.addEventListener(name, () => heard.push(name));
  }
  controller.addEventListener("state", ({ detail }) => heard.push(detail));
  await settled();
  return { controller, heard };
}

async function live(options = { parameters: { team: "Blue" } }) {
  const all = await opened(options);
  await streams.at(-1).send("snapshot", snapshot("a.1", [1, 2, 3]), "s1");
  all.heard.length = 0;
  return all;
}

const ids = ({ fetchedRecords }) => fetchedRecords.map(({ id }) => id);
const asked = () => streams.map(({ url }) => url.searchParams.getAll("query").join(" "));

test("other parameters go on from the last version, and the difference comes as a commit does", async () => {
  const { controller, heard } = await live();
  const [before] = controller.fetchedRecords;
  controller.parameters = { team: "Red" };
  assert.deepEqual(controller.parameters, { team: "Red" });
  await settled();
  assert.equal(asked().at(-1), "players?team=Red&lastEventId=a.1");
  assert.deepEqual([ids(controller), controller.state], [[1, 2, 3], "live"], "the old rows stay until then");
  await sendChangeSet(streams.at(-1), "a.1", "b.1", 2, deletion(2, 3), deletion(1, 2), insertion(1, 9));
  assert.deepEqual(heard, ["willChange", "change", "change", "change", "didChange"]);
  assert.deepEqual(ids(controller), [1, 9]);
  assert.equal(controller.fetchedRecords[0], before);
  await sendChangeSet(streams.at(-1), "b.1", "b.2", 1, deletion(1, 9));
  assert.deepEqual(ids(controller), [1]);
});

test("all that is set in one turn is one request, and what is set to the same is none", async () => {
  const { controller } = await live();
  for (const team of ["Red", "Green", "Yellow"]) controller.parameters = { team, least: undefined };
  controller.order = "best";
  controller.window = { offset: 5, limit: 2 };
  await settled();
  assert.deepEqual(asked().slice(1), ["players?team=Yellow&order=best&offset=5&limit=2&lastEventId=a.1"]);
  controller.order = "best";
  controller.parameters = { team: "Yellow" };
  await settled();
  assert.equal(streams.length, 2);
});

test("an order is part of each address, as an option, in the URL, or set", async () => {
  const { controller } = await opened({ order: "best" });
  assert.equal(asked()[0], "players?order=best");
  assert.equal(new URL(controller.address("records")).search, "?order=best");
  controller.order = null;
  assert.equal(new URL(controller.address("records")).search, "");
  const other = new FetchedRecordsController("http://127.0.0.1:1/v1/queries/players?order=name&team=Red");
  controllers.push(other);
  assert.deepEqual([other.order, other.parameters], ["name", { team: "Red" }]);
});

test("one that is set again while the answer is on its way goes on from what is shown", async () => {
  const { controller } = await live();
  controller.parameters = { team: "Red" };
  await settled();
  const [, red] = streams;
  red.send("willChange", { query: "players", from: "a.1", version: "b.1", commit: 8, numberOfChanges: 1 });
  await red.send("change", deletion(0, 1));
  controller.parameters = { team: "Green" };
  await settled();
  assert.equal(asked().at(-1), "players?team=Green&lastEventId=a.1");
  assert.equal(red.readyState, 2);
  await sendChangeSet(streams.at(-1), "a.1", "c.1", 1, deletion(2, 3), deletion(1, 2));
  assert.deepEqual(ids(controller), [1]);
});

test("and back again, before there was an answer, it is told what has changed meanwhile", async () => {
  const { controller, heard } = await live();
  controller.parameters = { team: "Red" };
  await settled();
  controller.parameters = { team: "Blue" };
  await settled();
  assert.equal(asked().at(-1), "players?team=Blue&lastEventId=a.1");
  await streams.at(-1).open();
  assert.deepEqual(heard, []);
  await sendChangeSet(streams.at(-1), "a.1", "a.2", 2, deletion(0, 1));
  assert.deepEqual(ids(controller), [2, 3]);
});

test("a snapshot instead of a change set is taken as one", async () => {
  const { controller, heard } = await live();
  controller.parameters = { team: "Red" };
  await settled();
  await streams.at(-1).send("snapshot", snapshot("b.1", [7]), "t1");
  assert.deepEqual([heard, ids(controller)], [["snapshot"], [7]]);
});

test("a change set that leads on from something else is refused, and it begins again without an id", async () => {
  const { controller, heard } = await live();
  controller.parameters = { team: "Red" };
  await settled();
  await sendChangeSet(streams.at(-1), "x.1", "b.1", 2, deletion(2, 3));
  await settled();
  assert.deepEqual([heard, ids(controller)], [["stale"], [1, 2, 3]]);
  assert.equal(asked().at(-1), "players?team=Red");
  assert.ok(!streams.at(-1).url.href.includes("lastEventId"));
  await streams.at(-1).send("snapshot", snapshot("b.1", [7]), "t1");
  assert.deepEqual([heard, ids(controller)], [["stale", "snapshot", "live"], [7]]);
});

test("parameters that are refused leave the rows, and good ones mend it, from where it was", async () => {
  const { controller, heard } = await live();
  let problem;
  controller.addEventListener("error", ({ detail }) => (problem = detail));
  await streams.at(-1).fail(PlayedStream.CLOSED);
  globalThis.fetch = async () => Response.json({ title: "Bad Request", detail: "least is an integer" }, { status: 400 });
  controller.parameters = { least: "many" };
  await settled();
  assert.deepEqual([heard, problem.detail, ids(controller)], [["stale", "error", "closed"], "least is an integer", [1, 2, 3]]);
  heard.length = 0;
  askFirst(false);
  controller.parameters = { least: 2 };
  await settled();
  assert.equal(asked().at(-1), "players?least=2&lastEventId=a.1");
  await sendChangeSet(streams.at(-1), "a.1", "b.1", 2, deletion(0, 1));
  assert.deepEqual(heard, ["stale", "willChange", "change", "didChange", "live"]);
});

test("what is closed stays closed", async () => {
  const { controller } = await live();
  controller.parameters = { team: "Red" };
  controller.close();
  controller.parameters = { team: "Green" };
  await settled();
  assert.deepEqual([controller.state, streams.length], ["closed", 1]);
});

test("one that breaks before the answer asks again from what is shown", async () => {
  const { controller } = await live();
  controller.parameters = { team: "Red" };
  await settled();
  await streams.at(-1).fail();
  await settled();
  assert.deepEqual(asked().slice(1), Array(2).fill("players?team=Red&lastEventId=a.1"));
  await sendChangeSet(streams.at(-1), "a.1", "b.1", 2, deletion(0, 1));
  assert.deepEqual(ids(controller), [2, 3]);
});

test("two controllers each with their own parameters do not disturb each other", async () => {
  const [one, two] = [await live(), await opened({ parameters: { team: "Blue" } })];
  assert.deepEqual(ids(two.controller), [1, 2, 3]);
  one.controller.parameters = { team: "Red" };
  await settled();
  // The one that stays has a stream of its own from now on.
  assert.deepEqual(asked().slice(1), ["players?team=Red&lastEventId=a.1"]);
  await sendChangeSet(streams[0], "a.1", "a.2", 2, deletion(0, 1));
  await sendChangeSet(streams[1], "a.1", "b.1", 1, deletion(2, 3), deletion(1, 2));
  assert.deepEqual([ids(one.controller), ids(two.controller)], [[1], [2, 3]]);
  // Goes to what another is shown already.
  one.controller.parameters = { team: "Blue" };
  await settled();
  assert.deepEqual(ids(one.controller), [2, 3]);
  await sendChangeSet(streams[0], "a.2", "a.3", 1, deletion(0, 2));
  assert.deepEqual([ids(one.controller), ids(two.controller)], [[3], [3]]);
});

test("who comes to what is still on its way from elsewhere is not shown the rows of elsewhere", async () => {
  const one = await live();
  one.controller.parameters = { team: "Red" };
  await settled();
  await streams.at(-1).open();
  const two = await opened({ parameters: { team: "Red" } });
  assert.deepEqual([two.controller.version, ids(one.controller)], [undefined, [1, 2, 3]]);
  assert.equal(asked().at(-1), "players?team=Red", "both begin with a snapshot");
  await streams.at(-1).send("snapshot", snapshot("b.1", [7]), "t1");
  assert.deepEqual([ids(one.controller), ids(two.controller)], [[7], [7]]);
});

test("who was led on to the same records is live again when the stream goes on", async () => {
  const { controller, heard } = await live();
  controller.parameters = { team: "Red" };
  await settled();
  await streams.at(-1).send("heartbeat", {});
  assert.ok(!controller.isPending);
  await streams.at(-1).write("id: s.2\n\n");
  await streams.at(-1).fail();
  await settled();
  assert.equal(streams.at(-1).url.searchParams.get("lastEventId"), "s.2");
  await streams.at(-1).open();
  assert.deepEqual([heard, controller.state], [["stale", "live"], "live"]);
});

test("a block with an id only is where the next request goes on", async () => {
  await live();
  await streams[0].write("id: a.99\n\n");
  await streams[0].fail();
  await settled();
  assert.equal(streams[1].url.searchParams.get("lastEventId"), "a.99");
  assert.equal(asked()[1], "players?team=Blue", "the same for all who come back from there");
});

test("a `retry:` that is the same for all brings nobody back at the same time", async (t) => {
  await live();
  const delays = [];
  t.mock.method(globalThis, "setTimeout", (action, delay) => delays.push(delay));
  await streams[0].write("retry: 2000\n\n");
  Math.random = () => 0.75;
  await streams[0].cut();
  assert.deepEqual(delays.filter((delay) => ![3000, 32_000].includes(delay)), [1000 + 0.75 * 2000]);
});
