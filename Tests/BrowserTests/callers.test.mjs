// Controllers that know who asks, with streams and a server played by the test.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { FetchedRecordsController } from "../../Public/didchange.js";
import { callerOf } from "../../Public/didchange/caller.js";
import { Hub } from "../../Public/didchange/hub.js";
import { askFirst, PlayedStream, settled, streams } from "./support/played.mjs";

const url = "http://127.0.0.1:1/v1/queries/orders";
const controllers = [];
/** What was asked: `GET /v1/events a`, the last word being the token. */
let asked;
/** Token → status of what it asks for. */
let statuses;

beforeEach(() => {
  streams.length = 0;
  askFirst(true);
  [asked, statuses] = [[], {}];
  Math.random = () => 0;
  globalThis.fetch = answer;
});

async function answer(address, { method = "GET", headers } = {}) {
  const { pathname } = new URL(address);
  const token = new Headers(headers).get("Authorization")?.replace(/^Bearer /, "") ?? "-";
  asked.push(`${method} ${pathname} ${token}`);
  const status = statuses[token] ?? 200;
  if (status >= 400) return Response.json({ title: "No", detail: "The token is not good." }, { status });
  return Response.json({});
}

afterEach(async () => {
  for (const controller of controllers.splice(0)) controller.close();
  await settled();
});

const snapshot = (version = "a-1", query = "orders") => ({
  query, version, commit: 7, numberOfRecords: 1,
  sections: [{ index: 0, name: null, indexTitle: "", numberOfRecords: 1, offset: 0 }],
  records: [{ key: [1], record: { id: 1 } }],
});

async function opened(options, address = url) {
  const controller = new FetchedRecordsController(address, options);
  controllers.push(controller);
  const heard = [];
  for (const name of ["snapshot", "error"]) controller.addEventListener(name, () => heard.push(name));
  controller.addEventListener("state", ({ detail }) => heard.push(detail));
  const problem = new Promise((resolve) =>
    controller.addEventListener("error", ({ detail }) => resolve(detail), { once: true }));
  await settled();
  return { controller, heard, problem };
}

async function live(options) {
  const all = await opened(options);
  await streams.at(-1).open();
  await streams.at(-1).send("snapshot", snapshot(), "s-1");
  all.heard.length = 0;
  return all;
}

const items = (name) => streams.map(({ url }) => url.searchParams.get(name));
const tokens = () => streams.map(({ headers }) => headers.get("Authorization"));
const openOnes = () => streams.filter(({ readyState }) => readyState !== 2);

/** A token function that gives these in turn, and notes why it was asked. */
function giving(...tokens) {
  const reasons = [];
  const token = async ({ expired }) => {
    reasons.push(expired);
    const next = tokens.shift();
    if (next instanceof Error) throw next;
    return next;
  };
  return { token, reasons };
}

test("a stream is opened with the token, which is in no address", async () => {
  const { controller } = await live({ token: async () => "secret" });
  assert.deepEqual(asked, ["GET /v1/events secret"]);
  assert.deepEqual(tokens(), ["Bearer secret"]);
  assert.ok(!streams[0].url.href.includes("secret"));
  assert.ok(!controller.url.includes("secret"));
  assert.equal(controller.state, "live");
});

test("a text is a token too", async () => {
  await opened({ token: "abc" });
  assert.deepEqual(asked, ["GET /v1/events abc"]);
});

test("a stream that breaks off is opened anew from where it was", async () => {
  const { controller } = await live({ token: "abc" });
  await streams[0].fail(PlayedStream.CONNECTING);
  assert.equal(controller.state, "stale");
  await settled();
  assert.deepEqual(tokens(), ["Bearer abc", "Bearer abc"]);
  assert.equal(items("lastEventId")[1], "s-1");
  await streams[1].open();
  assert.equal(controller.state, "live");
});

test("a token is asked for once, and again only when it was refused", async () => {
  const { token, reasons } = giving("old", "new");
  const { controller, heard } = await live({ token });
  const other = await opened({ token }, `${url}2`);
  await streams.at(-1).open();
  await streams.at(-1).fail(PlayedStream.CONNECTING);
  await settled();
  assert.deepEqual(reasons, [false]);
  await streams.at(-1).open();
  statuses.old = 401;
  await streams.at(-1).fail(PlayedStream.CONNECTING);
  await settled();
  assert.deepEqual(reasons, [false, true]);
  assert.equal(asked.at(-1), "GET /v1/events new");
  assert.equal(openOnes().length, 1);
  // It may be somebody else: nothing of the one before is gone on with.
  assert.ok(!openOnes()[0].url.href.includes("lastEventId"));
  await openOnes()[0].send("snapshot", snapshot("b-1"), "t-1");
  assert.equal(controller.state, "live");
  assert.deepEqual(heard.filter((what) => what === "error"), []);
  assert.equal(other.controller.state, "connecting");
});

test("a new token that is refused too means signed out, and nothing is tried any more", async () => {
  const { token, reasons } = giving("old", "other");
  const { controller, heard, problem } = await live({ token });
  Object.assign(statuses, { old: 401, other: 401 });
  await streams[0].fail(PlayedStream.CONNECTING);
  await settled();
  await settled();
  assert.deepEqual(reasons, [false, true]);
  assert.deepEqual(heard, ["stale", "snapshot", "error", "signedOut"]);
  assert.deepEqual(await problem, { title: "No", detail: "The token is not good.", status: 401 });
  assert.deepEqual([controller.state, controller.numberOfRecords, controller.fetchedRecords], ["signedOut", 0, []]);
  const before = asked.length;
  await settled();
  assert.deepEqual([asked.length, openOnes().length], [before, 0]);
  controller.window = { offset: 5 };
  assert.equal(openOnes().length, 0);
});

for (const [what, tokens] of Object.entries({ "the same token": ["old", "old"], "none": ["old", null] })) {
  test(`${what} after a refusal means signed out`, async () => {
    statuses.old = 401;
    const { token, reasons } = giving(...tokens);
    const { heard } = await opened({ token });
    assert.deepEqual(heard, ["error", "signedOut"]);
    assert.deepEqual(reasons, [false, true]);
    assert.deepEqual(asked, ["GET /v1/events old"]);
  });
}

test("a text that is refused is not tried again", async () => {
  statuses.abc = 401;
  const { heard } = await opened({ token: "abc" });
  assert.deepEqual(heard, ["error", "signedOut"]);
  assert.equal(asked.length, 1);
});

test("tokens that are good for no time are not asked for without end", async () => {
  let n = 0;
  const { controller } = await opened({ token: async () => `t${n++}` });
  for (let turn = 0; turn < 5 && controller.state !== "signedOut"; turn++) {
    await streams.at(-1).open();
    await streams.at(-1).send("snapshot", snapshot(`v-${turn}`), "s-1");
    await streams.at(-1).send("fetchError", { query: "orders", status: 401, title: "Unauthorized", detail: "" });
    await settled();
  }
  assert.deepEqual([controller.state, n], ["signedOut", 2]);
});

test("tokens that were good for a while are asked for as often as they end", async (t) => {
  let [n, now] = [0, Date.now()];
  t.mock.method(Date, "now", () => now);
  const { controller } = await opened({ token: async () => `t${n++}` });
  for (let turn = 0; turn < 5; turn++) {
    await streams.at(-1).open();
    await streams.at(-1).send("snapshot", snapshot(`v-${turn}`), "s-1");
    assert.equal(controller.state, "live");
    now += 6000;
    await streams.at(-1).send("fetchError", { query: "orders", status: 401, title: "Unauthorized", detail: "" });
    await settled();
  }
  assert.deepEqual([controller.state, n], ["stale", 6]);
});

test("who signs out while a stream runs is asked for another token at once", async () => {
  const { token } = giving("old", "new");
  const { heard } = await live({ token });
  await streams[0].send("fetchError", { query: "orders", status: 401, title: "Unauthorized", detail: "" });
  await settled();
  assert.deepEqual(heard, ["stale"]);
  assert.deepEqual(asked, ["GET /v1/events old", "GET /v1/events new"]);
});

test("403 in a stream says so, and what was shown is gone", async () => {
  const { controller, heard } = await live({ token: "abc" });
  await streams[0].send("fetchError", { query: "orders", status: 403, title: "Forbidden", detail: "" });
  await settled();
  assert.deepEqual(heard, ["stale", "snapshot", "error", "forbidden"]);
  assert.equal(controller.numberOfRecords, 0);
  assert.deepEqual(asked, ["GET /v1/events abc"]);
});

test("of several queries only that is forbidden which is", async () => {
  const token = async () => "abc";
  const [one, two] = [await opened({ token }), await opened({ token }, `${url}2`)];
  const stream = openOnes()[0];
  await stream.send("snapshot", snapshot());
  await stream.send("snapshot", snapshot("b-1", "orders2"), "s-1");
  globalThis.fetch = async (address, init) => {
    const queries = new URL(address).searchParams.getAll("query").map((text) => text.split("?")[0]);
    return queries.includes("orders") ? Response.json({ title: "Forbidden" }, { status: 403 }) : answer(address, init);
  };
  await stream.send("fetchError", { query: "orders", status: 403, title: "Forbidden", detail: "" });
  await settled();
  await settled();
  assert.deepEqual([one.controller.state, two.controller.state], ["forbidden", "stale"]);
  assert.equal(openOnes().length, 1);
  assert.deepEqual(openOnes()[0].url.searchParams.getAll("query"), ["orders2?lastEventId=b-1"]);
});

test("what is allowed again by the time each is asked for alone stays on one stream", async () => {
  const token = async () => "abc";
  await opened({ token });
  await opened({ token }, `${url}2`);
  const stream = openOnes()[0];
  await stream.send("snapshot", snapshot());
  await stream.send("snapshot", snapshot("b-1", "orders2"), "s-1");
  let refusals = 0;
  globalThis.fetch = async (address, init) => {
    const isOfBoth = new URL(address).searchParams.getAll("query").length > 1;
    return isOfBoth && !refusals++ ? Response.json({ title: "Forbidden" }, { status: 403 }) : answer(address, init);
  };
  await stream.send("fetchError", { query: "orders", status: 403, title: "Forbidden", detail: "" });
  await settled();
  await settled();
  assert.ok(refusals > 0);
  assert.deepEqual(openOnes().map(({ url }) => url.searchParams.getAll("query").length), [2]);
});

test("by a cookie there is nobody to ask: a 401 means signed out", async () => {
  const { heard } = await live();
  await streams[0].send("fetchError", { query: "orders", status: 401, title: "Unauthorized", detail: "" });
  await settled();
  assert.deepEqual(heard, ["stale", "snapshot", "error", "signedOut"]);
  assert.deepEqual(asked, ["GET /v1/events -"]);
});

test("a stream that cannot be had now is asked for again", { timeout: 60_000 }, async () => {
  statuses.abc = 503;
  const { controller } = await opened({ token: "abc" });
  assert.equal(controller.state, "connecting");
  delete statuses.abc;
  while (streams.length === 0) await settled();
  assert.equal(asked[0], asked.at(-1));
});

test("a token function that fails is told of and asked again", { timeout: 60_000 }, async () => {
  const { token, reasons } = giving(new Error("offline"), new Error("offline"), "abc");
  const { problem } = await opened({ token });
  while (streams.length === 0) await settled();
  const { title, cause } = await problem;
  assert.deepEqual([title, cause.message, reasons], ["The token function failed", "offline", [false, false, false]]);
});

test("a token function that fails after a refusal has not signed anybody out", { timeout: 60_000 }, async () => {
  statuses.old = 401;
  const { token, reasons } = giving("old", new Error("offline"), "new");
  const { controller } = await opened({ token });
  while (streams.length === 0) await settled();
  assert.deepEqual([controller.state, reasons], ["connecting", [false, true, true]]);
  assert.equal(asked.at(-1), "GET /v1/events new");
});

test("who has no token asks without, until a 401", async () => {
  const { token, reasons } = giving(null, "abc");
  await opened({ token });
  assert.deepEqual([asked, tokens()], [["GET /v1/events -"], [null]]);
  statuses["-"] = 401;
  await streams[0].fail(PlayedStream.CLOSED);
  await settled();
  assert.deepEqual(reasons, [false, true]);
  assert.equal(asked.at(-1), "GET /v1/events abc");
});

test("nobody shares a stream or a result with somebody else", async () => {
  const hub = new Hub();
  const news = [[], [], [], [], []];
  const base = "http://127.0.0.1:1/v1/";
  const callers = [{}, { token: "a" }, { token: "b" }, { withCredentials: true }, { token: "a", withCredentials: true }];
  const tabs = callers.map((caller, index) => {
    const send = hub.join((all) => news[index].push(...structuredClone(all)));
    send({ open: 1, base, query: "orders", parameters: "", ...caller });
    return send;
  });
  await settled();
  assert.equal(openOnes().length, 5);
  assert.deepEqual(tokens(), [null, "Bearer a", "Bearer b", null, "Bearer a"]);
  for (const told of news) told.length = 0;
  const ofA = tokens().indexOf("Bearer a");
  await streams[ofA].send("snapshot", snapshot(), "s-1");
  assert.deepEqual(news.map((told) => told.filter(([, kind]) => kind === "snapshot").length), [0, 1, 0, 0, 0]);
  // One more with the same token is given the result that is there, and no other is.
  const late = [[], []];
  [{ token: "a" }, { token: "c" }].forEach((caller, index) => {
    const send = hub.join((all) => late[index].push(...all));
    send({ open: 1, base, query: "orders", parameters: "", ...caller });
    tabs.push(send);
  });
  assert.deepEqual(late.map((told) => told.map(([, kind]) => kind)), [["snapshot", "state"], ["state"]]);
  for (const send of tabs) send({ leave: true });
});

test("a tab that lags and comes back as somebody else is not shown what it missed", async () => {
  const hub = new Hub();
  const news = [];
  const send = hub.join((all) => news.push(...structuredClone(all)));
  const topic = { open: 1, base: "http://127.0.0.1:1/v1/", query: "orders", parameters: "" };
  send({ ...topic, token: "a" });
  await settled();
  await streams[0].send("snapshot", snapshot(), "s-1");
  for (let n = 1; n < 100; n++) {
    const head = { query: "orders", from: `a-${n}`, version: `a-${n + 1}`, commit: n };
    await streams[0].send("willChange", { ...head, numberOfChanges: 0 });
    await streams[0].send("didChange", { ...head, numberOfRecords: 1, numberOfSections: 1 });
    await streams[0].send("commit", { commit: n }, `s-${n}`);
  }
  await streams[0].send("fetchError", { query: "orders", status: 401, title: "Unauthorized", detail: "" });
  send({ ...topic, token: "b" });
  const told = news.length;
  for (let n = 0; n < told; n++) send({ acknowledge: true });
  assert.deepEqual(news.slice(told).filter(([, kind]) => kind !== "state"), []);
  send({ leave: true });
});

test("whoever opens what the last one has closed is not shown what that one saw: the cookie may be another's", async () => {
  const hub = new Hub();
  const news = [];
  const send = hub.join((all) => news.push(...structuredClone(all)));
  const topic = { base: "http://127.0.0.1:1/v1/", query: "orders", parameters: "" };
  send({ open: 1, ...topic });
  await settled();
  await streams[0].send("snapshot", snapshot(), "s-1");
  news.length = 0;
  send({ close: 1 });
  send({ open: 2, ...topic });
  assert.deepEqual(news, [[2, "state", "connecting"]]);
  // The stream before ends, even if its refusal comes before it is closed.
  await streams[0].send("fetchError", { query: "orders", status: 401, title: "Unauthorized", detail: "" });
  await settled();
  assert.deepEqual(openOnes().map(({ url }) => url.searchParams.getAll("query")), [["orders"]]);
  news.length = 0;
  await openOnes()[0].send("snapshot", snapshot("b-1"), "t-1");
  assert.deepEqual(news.map(([id, kind, payload]) => [id, kind, payload.version ?? payload]), [[2, "snapshot", "b-1"], [2, "state", "live"]]);
  send({ leave: true });
});

test("a 401 ends all lists of a cookie, and whoever comes next is shown none of them", async () => {
  const hub = new Hub();
  const news = [];
  const send = hub.join((all) => news.push(...structuredClone(all)));
  const base = "http://127.0.0.1:1/v1/";
  ["orders", "orders2"].forEach((query, index) => send({ open: index + 1, base, query, parameters: "" }));
  await settled();
  await streams[0].send("snapshot", snapshot());
  await streams[0].send("snapshot", snapshot("b-1", "orders2"), "s-1");
  news.length = 0;
  await streams[0].send("fetchError", { query: "orders", status: 401, title: "Unauthorized", detail: "" });
  assert.deepEqual(news.map(([id, kind]) => `${id} ${kind}`), ["1 state", "2 state", "1 refused", "2 refused"]);
  news.length = 0;
  // Another has signed in.
  send({ open: 3, base, query: "orders", parameters: "" });
  assert.deepEqual(news, [[3, "state", "connecting"]]);
  await settled();
  assert.equal(asked.length, 2, "one stream, and then another");
  assert.ok(!openOnes()[0].url.href.includes("lastEventId"));
  send({ leave: true });
});

test("cookies go to another origin where they are asked to", async () => {
  const seen = [];
  const { controller } = await opened({ withCredentials: true });
  globalThis.fetch = async (address, init) => {
    seen.push(init.credentials);
    return new Response("{}");
  };
  await controller.fetch(controller.address("records"));
  assert.deepEqual([...seen, streams[0].credentials], ["include", "include"]);
});

test("pages are asked for by the same token, and with another after a 401", async () => {
  const { token, reasons } = giving("old", "new");
  const { controller } = await opened({ token });
  asked.length = 0;
  assert.equal((await controller.fetch(controller.address("records"))).status, 200);
  statuses.old = 401;
  const answers = await Promise.all(["records", "sections"].map((name) => controller.fetch(controller.address(name))));
  assert.deepEqual(answers.map(({ status }) => status), [200, 200]);
  assert.deepEqual(reasons, [false, true], "two that are refused at once ask once");
  statuses.new = 401;
  assert.equal((await controller.fetch(controller.address("records"))).status, 401);
  assert.deepEqual(reasons, [false, true]);
});

test("no other server is sent the token, and no text shows it", async () => {
  const { controller } = await opened({ token: "abc" });
  asked.length = 0;
  for (const address of ["http://127.0.0.1:2/v1/x", "http://127.0.0.1:1/other?abc", "//other/v1/"]) {
    await assert.rejects(controller.fetch(address), (error) => error instanceof TypeError && !error.message.includes("abc"));
  }
  assert.deepEqual(asked, []);
  for (const token of ["se cret", "se\ncret", "secret\u2026"]) {
    assert.throws(() => new FetchedRecordsController(url, { token }),
      (error) => error instanceof TypeError && !error.message.includes("cret"));
    await assert.rejects(callerOf({ token: () => token }).fetch(url),
      (error) => error instanceof TypeError && !error.message.includes("cret"));
  }
  assert.deepEqual(asked, []);
});

test("for await ends when somebody is signed out", async () => {
  const { controller } = await live({ token: "abc" });
  const sizes = [];
  const reading = (async () => {
    for await (const sections of controller) sizes.push(sections.length);
  })();
  await settled();
  await streams[0].send("fetchError", { query: "orders", status: 401, title: "Unauthorized", detail: "" });
  await reading;
  assert.deepEqual(sizes, [1, 0]);
});
