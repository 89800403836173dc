// Where streams do not come through: long polls instead, of the real server, behind what holds streams back or cuts them.

import assert from "node:assert/strict";
import { afterEach, before, beforeEach, describe, test } from "node:test";
import { FetchedRecordsController } from "../../Public/didchange.js";
import { Middle } from "./support/middle.mjs";
import { eventually, noServer, Server } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";
import { noBrowser } from "./support/webdriver.mjs";

// Node 18 has it behind a flag.
globalThis.CustomEvent ??= class extends Event {
  constructor(type, { detail }) {
    super(type);
    this.detail = detail;
  }
};

describe("where streams do not come through", { concurrency: 1, skip: noServer, timeout: 600_000 }, () => {
  let database, server;
  const [middles, controllers] = [[], []];

  stage({
    // So long that a change is less than the whole.
    sql: `
      CREATE TABLE item (id INTEGER PRIMARY KEY, kind TEXT, name TEXT);
      WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 40)
        INSERT INTO item SELECT 100 * unicode(kind) + n, kind, kind || n FROM number, (SELECT value AS kind FROM json_each('["a", "b", "c"]'));
      CREATE TABLE note AS SELECT * FROM item;
      CREATE TABLE wide AS SELECT id, kind, name, hex(zeroblob(1000)) AS text FROM item;`,
    configuration: `
queries:
  items:
    table: item
    where: kind = :kind AND id % 100 <= :most
    order: [id]
    parameters: {kind: {type: text, default: a}, most: {type: integer, default: 40}}
  notes: {table: note, order: [id], key: [id], where: kind = 'a'}
  wide: {table: wide, order: [id], key: [id]}
`,
    pages: { "six.html": `<!doctype html><link rel="icon" href="favicon.svg"><script type="module">
      import { FetchedRecordsController } from "./didchange.js";
      globalThis.six = [40, 39, 38, 37, 36, 35].map((most) => new FetchedRecordsController("v1/queries/items", { parameters: { most } }));
    </script>` },
  }, (made) => {
    ({ database, server } = made);
    made.keep({ stop: () => Promise.all(middles.map((middle) => middle.stop())) });
  });

  beforeEach(() => database.run("UPDATE item SET name = kind || (id % 100); UPDATE note SET name = kind || (id % 100)"));

  afterEach(() => controllers.splice(0).forEach((controller) => controller.close()));

  async function behind(mode) {
    const middle = await new Middle(server).start();
    middles.push(middle);
    middle.mode = mode;
    return middle;
  }

  function opened(at, query = "items", options) {
    const controller = new FetchedRecordsController(`${at.url}v1/queries/${query}`, options);
    controllers.push(controller);
    const heard = [];
    for (const name of ["snapshot", "didChange", "error", "recovered"]) controller.addEventListener(name, () => heard.push(name));
    for (const name of ["transport", "state"]) controller.addEventListener(name, ({ detail }) => heard.push(detail));
    const shows = (expected) => eventually(() => shown(controller) === expected, expected).catch(({ message }) => {
      throw new Error(`${message}, but “${shown(controller)}”, after ${heard}`);
    });
    return { controller, heard, shows };
  }

  const shown = ({ fetchedRecords, state }) => [state, fetchedRecords.length, fetchedRecords[0]?.name].join(" ");
  const idOf = (kind) => 100 * kind.charCodeAt() + 1;
  /** The first of a kind. */
  const rename = (name, kind = "a", table = "item") => database.run(`UPDATE ${table} SET name = '${name}' WHERE id = ${idOf(kind)}`);
  const isPolling = (middle) => middle.of("/changes").length > 0 && !middle.streams.length;
  /** The events of the polls that were answered since there were so many answers. */
  const told = (middle, since) => middle.log.slice(since).filter(({ path, status }) => path.includes("/changes") && status === 200)
    .flatMap(({ text }) => JSON.parse(text).events.map(({ event }) => event));

  async function isToldByPolls(middle, { controller, heard, shows }) {
    await eventually(() => controller.transport === "longPoll", "polls take over");
    await shows("live 40 a1");
    heard.length = 0;
    for (const name of ["x", "y", "a1"]) {
      rename(name);
      await shows(`live 40 ${name}`);
    }
    assert.deepEqual(heard, Array(3).fill("didChange"));
    assert.ok(isPolling(middle), middle.streams.join(" "));
  }

  /** What a controller hears while something is done. */
  async function heardOf({ heard }, done) {
    const since = heard.length;
    await done();
    return heard.slice(since);
  }

  describe("where an answer comes when it is over", { concurrency: 1 }, () => {
    let middle;
    before(async () => { middle = await behind("buffering"); });

    test("polls take over, and follow what another process commits", async () => {
      await isToldByPolls(middle, opened(middle));
      assert.equal(middle.of("/v1/events").length, 1, "one stream was tried");
    });

    test("other parameters go on from what is shown", async () => {
      const one = opened(middle);
      await one.shows("live 40 a1");
      assert.deepEqual(await heardOf(one, async () => {
        one.controller.parameters = { most: 39 };
        await one.shows("live 39 a1");
        await eventually(() => middle.open.length === 1 && middle.open[0].includes("most=39"), "nothing else is asked for");
        rename("x");
        await one.shows("live 39 x");
      }), ["didChange", "didChange"]);
      assert.deepEqual(await heardOf(one, async () => {
        one.controller.parameters = { kind: "b" };
        await one.shows("live 40 b1");
        rename("a1");
        rename("y", "b");
        await one.shows("live 40 y");
      }), ["snapshot", "didChange"]);
    });

    test("who comes late is shown something at once, while all others wait", async () => {
      const others = [40, 39, 38, 37].map((most) => opened(middle, "items", { parameters: { most } }));
      for (const [n, { shows }] of others.entries()) await shows(`live ${40 - n} a1`);
      await eventually(() => middle.open.filter((path) => path.includes("wait=20")).length === 4, "four polls wait");
      // By another token nothing is shared.
      await opened(middle, "items", { token: "somebody" }).shows("live 40 a1");
    });

    test("a query that fails says so, and that it is well again", async () => {
      const one = opened(middle, "notes");
      await one.shows("live 40 a1");
      assert.deepEqual(await heardOf(one, async () => {
        database.run("ALTER TABLE note RENAME TO gone");
        await eventually(() => one.heard.includes("error"), "it fails");
        database.run("ALTER TABLE gone RENAME TO note");
        await eventually(() => one.heard.includes("recovered"), "it recovers");
        rename("x", "a", "note");
        await one.shows("live 40 x");
      }), ["error", "recovered", "didChange"]);
    });

    test("a server that was restarted goes on from what is shown", async () => {
      const one = opened(middle);
      await one.shows("live 40 a1");
      const since = middle.log.length;
      assert.deepEqual(await heardOf(one, async () => {
        await server.stop("SIGKILL");
        await one.shows("stale 40 a1");
        await server.start();
        await one.shows("live 40 a1");
        rename("x");
        await one.shows("live 40 x");
      }), ["stale", "error", "live", "didChange"]);
      assert.deepEqual(told(middle, since), ["willChange", "change", "didChange"]);
    });

    test("a change set that leads on from something else is refused, and it begins again with nothing", async () => {
      const one = opened(middle);
      await one.shows("live 40 a1");
      await eventually(() => middle.open.length === 1, "a poll waits");
      let became;
      middle.alteration = { part: "/changes", become: (text) =>
        (became = text.replaceAll(/"from":"[^"]*"/g, '"from":"another.1"').replaceAll('"x"', '"foreign"')) };
      const since = middle.log.length;
      assert.deepEqual(await heardOf(one, async () => {
        rename("x");
        await one.shows("live 40 x");
      }), ["stale", "snapshot", "live"]);
      assert.match(became, /"from":"another.1".*foreign/);
      const next = middle.log.slice(since).filter(({ path }) => path.includes("/changes"))[1].path;
      assert.doesNotMatch(next, /after=|cursor=/);
    });

    test("of a long snapshot the beginning comes, and polls take over soon", async () => {
      const other = await behind("buffering");
      const { controller, shows } = opened(other, "wide");
      await shows("live 120 a1");
      assert.equal(controller.transport, "longPoll");
      rename("x", "a", "wide");
      await shows("live 120 x");
      assert.ok(isPolling(other));
    });

    test("streams are tried again after a while, in vain or not", async (t) => {
      const one = opened(middle);
      await one.shows("live 40 a1");
      let passed = 0;
      const { now } = Date;
      t.mock.method(Date, "now", () => now() + passed);
      for (const [mode, transports] of [["buffering", ["stream", "longPoll"]], ["through", ["stream"]]]) {
        passed += 600_001;
        middle.mode = mode;
        const since = middle.log.length;
        const heard = await heardOf(one, async () => {
          rename("x");
          await eventually(() => one.heard.includes("stream"), "a stream is tried");
          await eventually(() => one.controller.transport === transports.at(-1), mode);
          rename("a1");
          await one.shows("live 40 a1");
        });
        assert.deepEqual(heard.filter((word) => word !== "didChange"), transports);
        assert.ok(!told(middle, since).includes("snapshot"));
        one.heard.length = 0;
      }
      assert.equal(middle.open.filter((path) => path.includes("/changes")).length, 0);
      await eventually(() => middle.streams.length === 1, "the one before is closed");
      one.controller.close();
      await eventually(() => !middle.streams.length, "the stream is closed");
      assert.doesNotMatch(middle.of("/v1/events").at(-1).text, /event: snapshot/);
    });
  });

  describe("where streams are cut", { concurrency: 1 }, () => {
    test("polls take over after two, and follow what another process commits", async () => {
      const middle = await behind("cutting");
      const one = opened(middle);
      await isToldByPolls(middle, one);
      assert.equal(middle.of("/v1/events").length, 2);
    });
  });

  describe("six controllers in a browser, which has six connections", { concurrency: 1, skip: noBrowser }, () => {
    let browser;
    stage({ browser: true }, (made) => ({ browser } = made));

    test("all are told what changes, and other requests do not wait", async () => {
      const tab = await browser.open(`${(await behind("buffering")).url}six.html`);
      const show = (expected) => six.every((one) => one.state === "live" && one.transport === "longPoll"
        && one.fetchedRecords[0].name === expected);
      await tab.until(show, "a1");
      // Those that have moved are asked for beside the others.
      await tab.run(() => six.slice(3).forEach((one, n) => (one.parameters = { most: 30 + n })));
      await tab.until(() => six.slice(3).every((one, n) => one.numberOfRecords === 30 + n));
      const took = await tab.run(async () => {
        const began = performance.now();
        await Promise.all(six.map(async (one) => (await one.fetch(one.address("records"))).json()));
        return performance.now() - began;
      });
      // A poll waits for twenty seconds.
      assert.ok(took < 10_000, `six requests took ${took} ms`);
      for (const name of ["x", "y"]) {
        rename(name);
        await tab.until(show, name);
      }
    });
  });

  describe("where streams come through", { concurrency: 1 }, () => {
    for (const kind of ["at the server", "behind a proxy"]) {
      test(`a server that dies twice within a minute is no reason for polls, ${kind}`, async () => {
        const middle = await behind("through");
        const one = opened(kind === "at the server" ? server : middle);
        await one.shows("live 40 a1");
        for (const name of ["x", "a1"]) {
          await server.stop("SIGKILL");
          await eventually(() => one.controller.state === "stale", "the client has noticed");
          await server.start();
          rename(name);
          await one.shows(`live 40 ${name}`);
        }
        assert.equal(one.controller.transport, "stream");
        assert.ok(!one.heard.includes("longPoll"));
        assert.deepEqual(middle.of("/changes"), []);
      });
    }

    test("two servers behind a balancer that die in turn are no reason for polls", async (t) => {
      const other = await new Server(server.options, { env: server.env }).start();
      t.after(() => other.stop("SIGKILL"));
      const middle = await behind("through");
      t.after(() => (middle.server = server));
      const one = opened(middle);
      await one.shows("live 40 a1");
      // Milliseconds that each lives on with its client: not the same.
      for (const [n, life] of [200, 1500, 3000, 600].entries()) {
        const [dying, living] = n % 2 ? [other, server] : [server, other];
        const streams = middle.of("/v1/events").length;
        await new Promise((resolve) => setTimeout(resolve, life));
        middle.server = living;
        await dying.stop("SIGKILL");
        await eventually(() => middle.of("/v1/events").length > streams && middle.streams.length === 1, "it goes on at the other");
        await dying.start();
        rename(`x${n}`);
        await one.shows(`live 40 x${n}`);
      }
      assert.equal(one.controller.transport, "stream");
      assert.ok(!one.heard.includes("longPoll"));
    });
  });
});
