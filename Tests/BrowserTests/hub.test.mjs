// What controllers share: one stream, one result, and none of them more than it keeps up with.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { Hub } from "../../Public/didchange/hub.js";
import { askFirst, PlayedStream, settled, streams } from "./support/played.mjs";

const base = "http://127.0.0.1:1/v1/";

beforeEach(() => {
  streams.length = 0;
  askFirst(false);
  globalThis.fetch = () => assert.fail("nothing should be fetched");
  Math.random = () => 0;
});

const tabs = [];

afterEach(() => {
  for (const tab of tabs.splice(0)) tab.send({ leave: true });
  return settled();
});

/** A tab that notes what it is told and acknowledges it, unless it is busy. */
class PlayedTab {
  news = [];
  isBusy = false;
  #id = 0;

  constructor(hub) {
    tabs.push(this);
    this.send = hub.join((news) => {
      this.news.push(...structuredClone(news));
      if (!this.isBusy) this.send({ acknowledge: true });
    });
  }

  /** `name` or `name?parameters`. */
  open(topic) {
    const [query, parameters = ""] = topic.split("?");
    this.send({ open: ++this.#id, base, query, parameters });
    return this.#id;
  }

  /** `kind`s of what one controller was told, since this was last asked. */
  kinds() { return this.news.splice(0).map(([id, kind, payload]) => `${id} ${kind === "state" ? payload : kind}`); }
}

const snapshot = (query, version = "a-1", more = {}) => ({
  query, version, commit: 1, numberOfRecords: 1, ...more,
  sections: [{ index: 0, name: null, indexTitle: "", numberOfRecords: 1, offset: 0 }],
  records: [{ key: [1], record: { id: 1, n: 0 } }],
});

const update = (query, from, to, n) => [
  ["willChange", { query, from, version: to, commit: n, numberOfChanges: 1 }],
  ["change", { type: "update", indexPath: [0, 0], newIndexPath: [0, 0], key: [1], changes: {}, record: { id: 1, n } }],
  ["didChange", { query, from, version: to, commit: n, numberOfRecords: 1, numberOfSections: 1 }],
];

async function play(stream, events, id) {
  for (const [name, data] of events) await stream.send(name, data);
  await stream.send("commit", { commit: 1 }, id);
}

const queriesOf = ({ url }) => url.searchParams.getAll("query");
const openOnes = () => streams.filter(({ readyState }) => readyState !== 2);

test("many controllers of many tabs share one stream and one result", async () => {
  const hub = new Hub();
  const tabs = Array.from({ length: 7 }, () => new PlayedTab(hub));
  for (const tab of tabs) {
    tab.open("players");
    tab.open("team?team=Blue");
  }
  await settled();
  assert.deepEqual(openOnes().map(queriesOf), [["players", "team?team=Blue"]]);
  await streams[0].open();
  await streams[0].send("snapshot", snapshot("players"));
  await streams[0].send("snapshot", snapshot("team", "b-1", { parameters: { team: "Blue" } }), "s-1");
  for (const tab of tabs) {
    assert.deepEqual(tab.kinds(),
      ["1 connecting", "2 connecting", "1 snapshot", "1 live", "2 snapshot", "2 live"]);
  }
  const late = new PlayedTab(hub);
  late.open("players");
  assert.deepEqual(late.kinds(), ["1 snapshot", "1 live"]);
  await settled();
  assert.equal(streams.length, 1, "what is there already needs no new stream");
  await play(streams[0], [...update("players", "a-1", "a-2", 5),
    ["willChange", { query: "team", parameters: { team: "Blue" }, from: "b-1", version: "b-2" }],
    ["change", { type: "deletion", indexPath: [0, 0], key: [1], record: {} }],
    ["didChange", { query: "team", parameters: { team: "Blue" }, from: "b-1", version: "b-2", numberOfRecords: 0 }]], "s-2");
  for (const tab of tabs) assert.deepEqual(tab.kinds(), ["1 changeSet", "2 changeSet"]);
  assert.deepEqual(late.kinds(), ["1 changeSet"]);
});

test("a new query joins on a new stream, and what did not change is not told again", async () => {
  const hub = new Hub();
  const tab = new PlayedTab(hub);
  tab.open("a");
  await settled();
  await streams[0].send("snapshot", snapshot("a"), "s-1");
  tab.kinds();
  tab.open("b");
  await settled();
  assert.deepEqual(openOnes().map(queriesOf), [["a?lastEventId=a-1", "b"]]);
  await streams[1].open();
  await streams[1].send("snapshot", snapshot("b"), "t-1");
  assert.deepEqual(tab.kinds(), ["2 connecting", "2 snapshot", "2 live"]);
  await play(streams[1], update("a", "a-1", "a-2", 1), "t-2");
  assert.deepEqual(tab.kinds(), ["1 changeSet"]);
  tab.send({ close: 1 });
  await settled();
  assert.deepEqual(openOnes().map(queriesOf), [["b?lastEventId=a-1"]]);
  tab.send({ leave: true });
  await settled();
  assert.deepEqual(openOnes(), []);
});

test("a tab that does not keep up is told the end, not the way", async () => {
  const hub = new Hub();
  const [slow, quick] = [new PlayedTab(hub), new PlayedTab(hub)];
  slow.open("a");
  quick.open("a");
  await settled();
  await streams[0].send("snapshot", snapshot("a", "a-0"), "s-0");
  slow.kinds();
  quick.kinds();
  slow.isBusy = true;
  const commits = 1000;
  for (let n = 1; n <= commits; n++) {
    await play(streams[0], update("a", `a-${n - 1}`, `a-${n}`, n), `s-${n}`);
  }
  assert.equal(quick.kinds().length, commits);
  const told = slow.news.length;
  assert.equal(told, 64, "memory is bounded");
  slow.isBusy = false;
  for (let n = 0; n < told; n++) slow.send({ acknowledge: true });
  const [[, kind, payload]] = slow.news.slice(told);
  assert.equal(kind, "snapshot");
  assert.equal(payload.version, `a-${commits}`);
  assert.equal(payload.records[0].record.n, commits);
  slow.kinds();
  await play(streams[0], update("a", `a-${commits}`, "a-end", 0), "s-end");
  assert.deepEqual(slow.kinds(), ["1 changeSet"]);
});

test("a query that is refused does not spoil the stream of the others", async () => {
  const hub = new Hub();
  const tab = new PlayedTab(hub);
  tab.open("good");
  tab.open("bad");
  await settled();
  tab.kinds();
  globalThis.fetch = async (url) =>
    new Response("{\"title\":\"no such query\"}", { status: url.includes("bad") ? 404 : 200 });
  await streams[0].fail(PlayedStream.CLOSED);
  await settled();
  const kinds = tab.kinds();
  assert.deepEqual(kinds.filter((kind) => kind.startsWith("2")).slice(-2), ["2 error", "2 closed"]);
  assert.ok(!kinds.includes("1 closed"));
  assert.deepEqual(openOnes().map(queriesOf), [["good"]]);
});

test("queries that are good alone but not together go on streams of their own", async () => {
  const hub = new Hub();
  const tab = new PlayedTab(hub);
  tab.open("a");
  tab.open("a?x=default");
  await settled();
  globalThis.fetch = async (url) =>
    new Response("{}", { status: new URL(url).searchParams.getAll("query").length > 1 ? 400 : 200 });
  await streams[0].fail(PlayedStream.CLOSED);
  await settled();
  assert.deepEqual(openOnes().map(queriesOf), [["a"], ["a?x=default"]]);
});

test("windows of one query are told apart", async () => {
  const hub = new Hub();
  const tab = new PlayedTab(hub);
  tab.open("a?offset=0&limit=1");
  tab.open("a?offset=9&limit=1");
  await settled();
  const at = (offset) => ({ window: { offset, limit: 1 } });
  await streams[0].send("snapshot", snapshot("a", "a-1", at(0)));
  await streams[0].send("snapshot", snapshot("a", "b-1", at(9)), "s-1");
  tab.kinds();
  const events = update("a", "b-1", "b-2", 5);
  for (const [name, data] of events) if (name !== "change") Object.assign(data, at(9));
  await play(streams[0], events, "s-2");
  assert.deepEqual(tab.kinds(), ["2 changeSet"]);
});

test("an event goes to the query that it names, in whatever order events come", async () => {
  const tab = new PlayedTab(new Hub());
  for (const topic of ["a", "b", "t", "t?team=Blue", "t?team=Red&least=07", "t?offset=5", "t?offset=5&limit=2"]) tab.open(topic);
  await settled();
  tab.kinds();
  const told = () => tab.kinds().filter((kind) => !kind.endsWith("live"));
  // b fails: its error may come before its snapshot, and before that of a.
  await streams[0].send("fetchError", { query: "b", status: 500, title: "no such table", detail: "" });
  assert.deepEqual(told(), ["2 error"]);
  await streams[0].send("snapshot", snapshot("b"));
  await streams[0].send("snapshot", snapshot("a"));
  assert.deepEqual(told(), ["2 snapshot", "1 snapshot"]);
  // With the server's own values for what is not given.
  const shows = (more) => streams[0].send("snapshot", snapshot("t", JSON.stringify(more), more));
  await shows({ parameters: { team: "Red", least: 7 } });
  await shows({ parameters: { team: "Blue", least: 0 } });
  await shows({ parameters: { team: "Green", least: 0 } });
  await shows({ parameters: { team: "Green", least: 0 }, window: { offset: 5, limit: 2 } });
  await shows({ parameters: { team: "Green", least: 0 }, window: { offset: 5 } });
  assert.deepEqual(told(), ["5 snapshot", "4 snapshot", "3 snapshot", "7 snapshot", "6 snapshot"]);
  assert.equal(openOnes().length, 1);
});

test("queries that cannot be told apart by their events go on streams of their own", async () => {
  const tab = new PlayedTab(new Hub());
  // Which of them it is depends on the defaults, which the server knows.
  for (const topic of ["q?x=1", "other", "q?y=2"]) tab.open(topic);
  await settled();
  tab.kinds();
  await streams[0].send("snapshot", snapshot("q", "q-1", { parameters: { x: 1, y: 2 } }));
  await streams[0].send("snapshot", snapshot("other"));
  assert.deepEqual(tab.kinds(), [], "nobody is told what may be another's");
  await settled();
  assert.deepEqual(openOnes().map(queriesOf), [["q?x=1", "other"], ["q?y=2"]]);
  await streams.at(-1).send("snapshot", snapshot("q", "q-2", { parameters: { x: 5, y: 2 } }), "s-1");
  assert.deepEqual(tab.kinds(), ["3 snapshot", "3 live"]);
});

test("a query that fails is told once, however many streams begin with it, until it is read again", async () => {
  const tab = new PlayedTab(new Hub());
  tab.open("a");
  await settled();
  await streams[0].send("snapshot", snapshot("a"), "s-1");
  const failure = { query: "a", status: 500, title: "Internal Server Error", detail: "no such table" };
  await streams[0].send("fetchError", failure);
  assert.deepEqual(tab.kinds(), ["1 connecting", "1 snapshot", "1 live", "1 error"]);
  const rotate = async () => {
    await streams.at(-1).fail();
    await settled();
    await streams.at(-1).open();
  };
  for (let rotation = 0; rotation < 2; rotation++) {
    await rotate();
    await streams.at(-1).send("fetchError", failure);
    assert.deepEqual(tab.kinds(), ["1 stale", "1 live"]);
  }
  tab.open("a");
  assert.deepEqual(tab.kinds(), ["2 snapshot", "2 error", "2 live"], "who comes late is told");
  await streams.at(-1).send("fetchError", { ...failure, detail: "no such column" });
  assert.deepEqual(tab.kinds(), ["1 error", "2 error"], "another failure");
  const recovered = { query: "a", version: "a-1", commit: 2 };
  await streams.at(-1).send("recovered", recovered);
  await streams.at(-1).send("recovered", recovered);
  await streams.at(-1).send("fetchError", failure);
  assert.deepEqual(tab.kinds(), ["1 recovered", "2 recovered", "1 error", "2 error"]);
  await play(streams.at(-1), update("a", "a-1", "a-2", 2), "s-2");
  await streams.at(-1).send("fetchError", failure);
  assert.deepEqual(tab.kinds(), ["1 changeSet", "2 changeSet", "1 error", "2 error"], "a change says that it is well");
  // A stream begins with what it was sent since it had something new, what is over too.
  const story = [["fetchError", failure], ["recovered", recovered]].map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join("");
  await rotate();
  tab.kinds();
  await streams.at(-1).write(story);
  assert.deepEqual(tab.kinds(), ["1 recovered", "2 recovered"]);
  await streams.at(-1).write(story);
  assert.deepEqual(tab.kinds(), []);
});

test("an event of a query that nobody asked for is nobody's", async () => {
  const tab = new PlayedTab(new Hub());
  tab.open("a");
  await settled();
  tab.kinds();
  await streams[0].send("snapshot", snapshot("b"), "s-1");
  await streams[0].send("fetchError", { query: "b", status: 500 });
  assert.deepEqual(tab.kinds(), []);
});

test("a name with a question mark is asked for with its version", async () => {
  const hub = new Hub();
  const tab = new PlayedTab(hub);
  tab.send({ open: 1, base, query: "who?when", parameters: "" });
  await settled();
  await streams[0].send("snapshot", snapshot("who?when"), "s-1");
  tab.send({ open: 2, base, query: "b", parameters: "" });
  await settled();
  assert.deepEqual(openOnes().map(queriesOf), [["who?when?lastEventId=a-1", "b"]]);
});

test("many queries go on streams that the server takes", async () => {
  const hub = new Hub();
  const tab = new PlayedTab(hub);
  for (let n = 0; n < 150; n++) tab.open(`q${n}`);
  await settled();
  assert.deepEqual(openOnes().map((stream) => queriesOf(stream).length), [48, 48, 48, 6]);
  // One goes, and another comes in its place: the others stay where they are.
  tab.send({ close: 1 });
  tab.open("late");
  await settled();
  assert.equal(streams.length, 5);
  assert.deepEqual(queriesOf(streams[4]).slice(-2), ["q47", "late"]);
});

test("what moves has a stream of its own while there are connections for that", async () => {
  const tab = new PlayedTab(new Hub());
  const ask = (id, token, parameters) => tab.send({ open: id, base, query: "a", parameters, token });
  for (const token of ["ann", "bob"]) {
    ask(`${token} 1`, token, "n=1");
    ask(`${token} 2`, token, "n=2");
  }
  await settled();
  ask("ann 1", "ann", "n=3");
  await settled();
  assert.deepEqual(openOnes().map((stream) => queriesOf(stream).length).sort(), [1, 1, 2]);
  ask("cyd 1", "cyd", "n=1");
  await settled();
  assert.deepEqual(openOnes().map((stream) => queriesOf(stream).length).sort(), [1, 2, 2]);
});
