// What an app is told where the server cannot be had: of real servers, other servers, and none.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { describe, test } from "node:test";
import { Pulse } from "../../Public/didchange/pulse.js";
import { Middle } from "./support/middle.mjs";
import { eventually, freePorts, noServer, Server, teams, teamsConfiguration } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";
import { noBrowser } from "./support/webdriver.mjs";

test("two heartbeats are as long as the server makes them, and never longer than the protocol says", () => {
  const pulse = new Pulse();
  const silences = [];
  // The way holds back the third, and so shortens what follows.
  for (const now of [0, 3000, 6500, 9000, 12_000]) {
    pulse.heard("heartbeat", now);
    silences.push(pulse.silence);
  }
  assert.deepEqual(silences, [32_000, 32_000, 32_000, 9000, 9000]);
  pulse.heard("didChange", 13_000);
  pulse.heard("heartbeat", 13_100);
  assert.equal(pulse.silence, 9000, "what follows an event is no gap");
  for (const now of [40_000, 80_000, 120_000]) pulse.heard("heartbeat", now);
  assert.equal(pulse.silence, 32_000);
});

describe("an app in a browser is told", { skip: noBrowser || noServer, timeout: 600_000 }, () => {
  let browser, server, tab;
  const others = [];

  stage({ browser: true, sql: teams, configuration: (path) => `${teamsConfiguration(path)}\ntimeouts: {heartbeat: 500ms}\n` }, (made) => {
    ({ browser, server } = made);
    made.keep({ stop: () => others.forEach((other) => other.close()) });
    made.keep({ stop: () => server.send("SIGCONT") });
  });

  /** Two controllers of one server; what the first one hears. */
  async function watch(base, home = server.url) {
    await tab?.close();
    await browser.console();
    tab = await browser.open(`${home}demo.html`);
    await tab.run(async (base) => {
      const { FetchedRecordsController } = await import("/didchange.js");
      globalThis.heard = [];
      globalThis.controllers = ["players", "team"].map((name) => new FetchedRecordsController(`${base}v1/queries/${name}`));
      const [first] = controllers;
      first.addEventListener("error", ({ detail: { reason, status, title, detail } }) => heard.push({ told: reason ?? status, title, detail }));
      first.addEventListener("state", ({ detail }) => heard.push(detail));
    }, base);
  }

  const seen = (isTold) => tab.until(isTold ?? (() => heard.some(({ title }) => title) && heard));
  const warnings = async () => (await browser.console()).filter(({ level }) => level === "WARNING").map(({ message }) => message);

  async function serve(answer) {
    const other = createServer(answer).listen(0, "127.0.0.1");
    await once(other, "listening");
    others.push(other);
    return `http://127.0.0.1:${other.address().port}/`;
  }

  test("that nobody is at the port", async () => {
    const [port] = await freePorts(1);
    await watch(`http://127.0.0.1:${port}/`);
    const [{ told: what, detail }] = await seen();
    assert.equal(what, "unreachable");
    assert.match(detail, new RegExp(`127.0.0.1:${port}/v1/ does not answer`));
    if (browser.hearsConsole) {
      const said = await warnings();
      assert.equal(said.length, 1, "one for both controllers");
      assert.match(said[0], /didchange, http.*The server cannot be reached/);
    }
    assert.equal(await tab.run(() => controllers[0].state), "connecting");
    // Whoever comes late is told too.
    assert.equal(await tab.run(async () => {
      const late = new controllers[0].constructor(controllers[0].url.replace("/events", ""));
      return new Promise((done) => late.addEventListener("error", ({ detail }) => done(detail.reason)));
    }), "unreachable");
  });

  test("that the server lets no page of its origin read", async () => {
    const refusing = await new Server(server.options).start();
    others.push({ close: () => refusing.stop() });
    await watch(refusing.url);
    const [{ told: what, detail }] = await seen();
    assert.equal(what, "cors");
    assert.match(detail, new RegExp(`${new URL(server.url).origin} .*cors`));
  });

  test("that another server answers", async () => {
    await watch(await serve((_, answer) =>
      answer.writeHead(200, { "Content-Type": "text/html", "Access-Control-Allow-Origin": "*" }).end("<h1>Hello</h1>")));
    const [{ told: what, detail }] = await seen();
    assert.equal(what, "foreign");
    assert.match(detail, /gave text\/html in place of text\/event-stream/);
  });

  test("with which status and why, and whether it is asked again", async () => {
    let status = 503;
    const base = await serve((_, answer) => {
      answer.writeHead(status, { "Content-Type": "application/problem+json", "Access-Control-Allow-Origin": "*" })
        .end(JSON.stringify({ title: "No", detail: `because of ${status}` }));
    });
    await watch(base);
    assert.deepEqual(await seen(), [{ told: 503, title: "No", detail: "because of 503" }]);
    status = 404;
    assert.deepEqual(await seen(() => heard.includes("closed") && heard.slice(1)),
      [{ told: 404, title: "No", detail: "because of 404" }, "closed"]);
  });

  test("that a server is frozen when two heartbeats have not come, and that it goes on", async () => {
    const middle = await new Middle(server).start();
    others.push({ close: () => middle.stop() });
    await watch(middle.url, middle.url);
    await seen(() => heard.includes("live"));
    // As many as it takes to know how often they come.
    await eventually(() => middle.flowing.some(({ text }) => text.split("event: heartbeat").length > 4), "heartbeats");
    server.send("SIGSTOP");
    const began = Date.now();
    assert.deepEqual((await seen(() => heard.length > 2 && heard)).map((one) => one.told ?? one), ["live", "stale", "silent"]);
    assert.ok(Date.now() - began < 30_000, "sooner than where heartbeats come every 15 seconds");
    server.send("SIGCONT");
    await seen(() => heard.at(-1) === "live");
    assert.equal(await tab.run(() => controllers[0].numberOfRecords), 6);
  });
});
