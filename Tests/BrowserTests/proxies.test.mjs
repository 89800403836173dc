// The recipes of Scripts/proxies, each with the real program, two servers, TLS and HTTP/2.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { idleLimit, noProxy, Proxy, proxyNames } from "./support/proxies.mjs";
import {
  Database, eventually, Folder, noServer, Server, teams, teamsConfiguration,
} from "./support/server.mjs";
import { stage } from "./support/stage.mjs";
import { Browser, noBrowser } from "./support/webdriver.mjs";

const shows = (expected) => document.body.dataset.state === "live" && expected
  === [...document.querySelectorAll("#records .record [role=cell]:nth-child(2)")].map((cell) => cell.textContent).join(" ");

describe("behind a proxy", { concurrency: proxyNames.length }, () => {
  for (const name of proxyNames) describe(name, { concurrency: 1, skip: noServer || noProxy(name), timeout: 600_000 }, () => {
    let folder, database, servers, proxy;

    stage({ sql: teams, configuration: (path) => `${teamsConfiguration(path)}
proxies: [127.0.0.1]
accessLog: "log {client} {scheme} {target}"
` }, async (made) => {
      ({ database, folder } = made);
      servers = [made.server, await made.keep(new Server(made.server.options)).start()];
      const words = servers.map(({ port }, index) => [`127.0.0.1:${8080 + index}`, `127.0.0.1:${port}`]);
      proxy = made.keep(await Proxy.start(name, folder, { words }));
    });

    test("nothing is held back", async () => {
      const stream = proxy.stream("v1/selftest");
      await stream.ended;
      const ticks = stream.arrivals.filter(([, text]) => text.includes("event: tick"));
      const [first, last] = [ticks[0][0], ticks.at(-1)[0]];
      assert.ok(last - first > 600, `eight ticks of 125 ms came within ${last - first} ms`);
      stream.close();
    });

    test("its numbers are for operators, and its address ends in a slash", async () => {
      for (const path of ["metrics", "%6Detrics", "metrics?a=1"]) {
        assert.equal((await proxy.get(path)).status, 403, path);
      }
      // As they stand: clients that mean no harm leave dots out.
      for (const path of ["./metrics", "//metrics", "%2E/metrics", "v1/../metrics", "v1/%2e%2e/metrics", "v1/..//metrics"]) {
        const { status } = await proxy.get("", { ":path": `/live/${path}` });
        assert.ok([400, 403, 404].includes(status), `${path}: ${status}`);
      }
      assert.equal((await proxy.get("v1/queries")).status, 200);
      const slashless = await proxy.get("../live");
      assert.deepEqual([slashless.status, new URL(slashless.head.location, proxy.url).pathname], [308, "/live/"]);
    });

    test("a client's word is not taken for the proxy's", async () => {
      const forged = {
        "forwarded": "for=1.2.3.4;proto=http", "x-forwarded-for": "1.2.3.4", "x-forwarded-proto": "http",
        "x-forwarded-prefix": "/evil", "x-forwarded-host": "evil.example",
      };
      // Another address than the proxy's: what stands before a proxy's own is the client.
      const client = "127.0.0.2";
      assert.equal((await proxy.get("healthz?forged", forged, client)).status, 200);
      const line = await eventually(
        () => /^log (.*) \/healthz\?forged$/m.exec(servers.map(({ log }) => log).join("\n")), "the request is logged");
      assert.equal(line[1], `${client} https`);
      const folder = await proxy.get("didchange?a=1", forged);
      assert.deepEqual([folder.status, folder.head.location], [308, "/live/didchange/?a=1"]);
      const posted = { ":method": "POST", ...forged, origin: "https://evil.example" };
      assert.equal((await proxy.get("v1/queries/players/fetch", posted)).status, 403);
    });

    test("an event comes at once, and a stream resumes where it broke off", async (t) => {
      const stream = proxy.stream("v1/queries/players/events");
      await stream.until("event: snapshot");
      const version = () => stream.lastEventID;
      const known = version();
      const start = performance.now();
      database.run("UPDATE player SET name = 'Abe' WHERE id = 1");
      await stream.until("event: didChange");
      const arrived = stream.arrivals.find(([, text]) => text.includes("event: didChange"))[0];
      t.diagnostic(`from before the writing process starts to the event: ${Math.round(arrived - start)} ms`);
      // What is held back comes with the next heartbeat at best, which is 15 seconds off.
      assert.ok(arrived - start < 10_000);
      stream.close();
      const resumed = proxy.stream("v1/queries/players/events", { "last-event-id": known });
      await resumed.until("event: didChange");
      assert.ok(!resumed.text.includes("event: snapshot"), "only what was missed");
      resumed.close();
      database.run("UPDATE player SET name = 'Ada' WHERE id = 1");
    });

    test("an idle stream outlives the proxy's patience", async () => {
      const stream = proxy.stream("v1/queries/team/events");
      await stream.until("event: snapshot");
      await new Promise((resolve) => setTimeout(resolve, (idleLimit + 4) * 1000));
      assert.equal(stream.isEnded, false);
      assert.match(stream.text, /^: heartbeat$/m);
      database.run("UPDATE player SET name = 'Ann' WHERE id = 1");
      await stream.until("event: didChange");
      stream.close();
      database.run("UPDATE player SET name = 'Ada' WHERE id = 1");
    });

    test("the page lives through a rolling restart, under a prefix and over HTTP/2", { skip: noBrowser }, async (t) => {
      const browser = await Browser.start();
      t.after(() => browser.stop());
      const tab = browser.first;
      await tab.go(proxy.url);
      await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
      assert.deepEqual(await tab.run(() => [...new Set(performance.getEntriesByType("resource")
        .map(({ nextHopProtocol }) => nextHopProtocol))]), ["h2"]);
      for (const [server, letter] of [[servers[0], "X"], [servers[1], "Y"], [servers[0], "Z"]]) {
        await server.stop("SIGTERM");
        database.run(`UPDATE player SET name = '${letter}' WHERE id = 6`);
        await tab.until(shows, `Ada Barbara Cyd Dora Eve ${letter}`);
        await server.start();
        database.run(`UPDATE player SET name = '${letter}${letter}' WHERE id = 6`);
        await tab.until(shows, `Ada Barbara Cyd Dora Eve ${letter}${letter}`);
      }
      // With both away the proxy answers 502 or 503, for which a browser's EventSource gives up for ever.
      for (const server of servers) await server.stop("SIGKILL");
      await tab.until(() => document.body.dataset.state === "stale");
      const stream = proxy.stream("v1/queries/players/events");
      await stream.ended.catch(() => {});
      assert.ok(stream.status >= 502, `${stream.status}`);
      stream.close();
      database.run("UPDATE player SET name = 'Fay' WHERE id = 6");
      for (const server of servers) await server.start();
      await tab.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    });
  });

  test("the self-test shows a proxy that buffers", { skip: noServer || noProxy("nginx") || noBrowser }, async (t) => {
    const folder = new Folder();
    t.after(() => folder.remove());
    const database = new Database(folder.file("teams.sqlite"), teams);
    const server = await new Server([database.path]).start();
    t.after(() => server.stop());
    const address = `127.0.0.1:${server.port}`;
    const proxy = await Proxy.start("nginx", folder, { words: [
      ["127.0.0.1:8080", address], ["127.0.0.1:8081", `${address} backup`], ["ip_hash;", ""],
      // A filter that waits for more to compress is what buffers in practice.
      ["proxy_buffering off", "proxy_ignore_headers X-Accel-Buffering; proxy_buffering on"],
      ["gzip off", "gzip on; gzip_types text/event-stream; gzip_proxied any; gzip_min_length 1"],
    ] });
    t.after(() => proxy.stop());
    const browser = await Browser.start();
    t.after(() => browser.stop());
    await browser.first.go(proxy.url);
    // By long polls.
    await browser.first.until(shows, "Ada Barbara Cyd Dora Eve Fay");
    await browser.first.until(() => !document.getElementById("about").hidden);
    await browser.first.click("#about summary");
    await browser.first.until(() => document.getElementById("test"));
    await browser.first.click("#test");
    await browser.first.until(() => /buffers/.test(document.getElementById("tested").textContent));
  });
});
