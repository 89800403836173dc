// The recipes of Scripts/proxies where another service knows who somebody is, with the real programs.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import https from "node:https";
import { describe, test } from "node:test";
import { noProxy, Proxy } from "./support/proxies.mjs";
import { noServer } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";
import { Browser, noBrowser } from "./support/webdriver.mjs";

const sql = `
  CREATE TABLE account (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
  CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer INTEGER, title TEXT);
  INSERT INTO account VALUES (7, 'ada'), (8, 'bob');
  INSERT INTO purchase VALUES (1, 7, 'Apples'), (2, 8, 'Cheese');`;

const configuration = (database) => `
database: ${database}
proxies: [127.0.0.1]
callers:
  headers: {sub: X-Forwarded-User, groups: [X-Forwarded-Groups]}
  claims: SELECT id AS user FROM account WHERE name = :sub
queries:
  notices: {sql: SELECT 1 AS id, allow: anyone}
  purchases:
    table: purchase
    where: customer = :customer
    order: [id]
    parameters: {customer: {type: integer, claim: user}}
  everything: {table: purchase, order: [id], allow: {groups: [admins]}}
`;

/** What one signs in to: the cookie `who` is a session of it, and `guest` one of nobody in particular. */
class SignInService {
  /** Who has a session, and which groups are theirs. */
  sessions = new Map([["ada", "staff, admins"], ["bob", "staff"], ["guest", null]]);
  /** The headers it was asked with. */
  asked = [];

  async start() {
    this.server = createServer((request, response) => {
      this.asked.push(request.headers);
      const who = /(?:^|; )who=(\w+)/.exec(request.headers.cookie)?.[1];
      if (request.url !== "/verify" || !this.sessions.has(who)) return response.writeHead(401).end();
      const groups = this.sessions.get(who);
      response.writeHead(200, groups === null ? {} : { "X-Forwarded-User": who, "X-Forwarded-Groups": groups }).end();
    }).listen(0, "127.0.0.1");
    await once(this.server, "listening");
    return this;
  }

  get address() { return `127.0.0.1:${this.server.address().port}`; }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }
}

const recipes = [["nginx", "nginx-auth-request.conf"], ["caddy", "Caddyfile-forward-auth"]];

describe("behind a proxy that asks who it is", { concurrency: 2 }, () => {
  for (const [name, recipe] of recipes) describe(recipe, { concurrency: 1, skip: noServer || noProxy(name), timeout: 600_000 }, () => {
    let database, server, service, proxy;

    stage({ sql, configuration }, async (made) => {
      ({ database, server } = made);
      service = made.keep(await new SignInService().start());
      proxy = made.keep(await Proxy.start(name, made.folder, { recipe, words: [
        ["127.0.0.1:8080", `127.0.0.1:${server.port}`], ["127.0.0.1:9000", service.address],
      ] }));
    });

    const titles = ({ status, text }) =>
      status === 200 ? JSON.parse(text).records.map(({ record: { title, id } }) => title ?? id) : status;
    const records = async (query, headers) => titles(await proxy.get(`v1/queries/${query}/records`, headers));
    const ask = (headers) => records("purchases", headers);

    test("who has signed in sees their own", async () => {
      assert.deepEqual(await ask({ cookie: "who=ada" }), ["Apples"]);
      assert.deepEqual(await ask({ cookie: "theme=dark; who=bob" }), ["Cheese"]);
      assert.deepEqual(await records("everything", { cookie: "who=ada" }), ["Apples", "Cheese"]);
      // The service would be asked with it, too, and give another answer.
      assert.equal((await proxy.get("v1/queries/purchases/records?limit=1", { cookie: "who=ada" })).status, 200);
      assert.equal(await records("everything", { cookie: "who=bob" }), 403);
    });

    test("who has not is let in nowhere", async () => {
      for (const headers of [{}, { cookie: "who=eve" }, { authorization: "Bearer ada" }]) {
        assert.equal(await ask(headers), 401);
        assert.equal(await records("notices", headers), 401);
        assert.equal((await proxy.get("v1/queries/purchases/events", headers)).status, 401);
        assert.equal((await proxy.get("v1/tickets", { ":method": "POST", ...headers })).status, 401);
      }
    });

    test("a client's word is not taken for the service's", async () => {
      service.asked = [];
      for (const forged of [
        { "x-forwarded-user": "ada" }, { "x-forwarded-user": "ada", "x-forwarded-groups": "admins" },
        { "x-forwarded-user": ["ada", "ada"], "x-forwarded-groups": ["admins", "admins"] },
        { "x-forwarded-groups": "admins" }, { "x_forwarded_user": "ada", "x_forwarded_groups": "admins" },
      ]) {
        const [none, bob, guest] = [forged, { ...forged, cookie: "who=bob" }, { ...forged, cookie: "who=guest" }];
        assert.equal(await ask(none), 401);
        assert.deepEqual(await ask(bob), ["Cheese"]);
        assert.equal(await records("everything", bob), 403);
        // The service lets guests in and does not say who they are.
        assert.deepEqual(await records("notices", guest), [1]);
        assert.equal(await ask(guest), 401);
        assert.equal(await records("everything", guest), 401);
      }
      assert.ok(service.asked.length >= 30);
      assert.ok(service.asked.every((headers) => !headers["x-forwarded-user"] && !headers["x-forwarded-groups"]));
    });

    test("nor is it by way of HTTP/1.1, where a client may name headers that are not passed on", async () => {
      const get = (headers) => new Promise((resolve, reject) => {
        const request = https.get(`${proxy.url}v1/queries/purchases/records`, { rejectUnauthorized: false, headers });
        request.on("error", reject).on("response", async (response) =>
          resolve(titles({ status: response.statusCode, text: (await response.toArray()).join("") })));
      });
      const forged = { "X-Forwarded-User": "ada", "X-Forwarded-Groups": "admins" };
      assert.deepEqual(await get({ cookie: "who=bob", ...forged }), ["Cheese"]);
      assert.equal(await get(forged), 401);
      for (const Connection of ["X-Forwarded-User", "close, X-Forwarded-User, X-Forwarded-Groups", "X-Forwarded-For"]) {
        // Bob's name may get lost, but not become another.
        assert.ok(["Cheese", "401"].includes(String(await get({ cookie: "who=bob", ...forged, Connection }))), Connection);
        assert.equal(await get({ cookie: "who=guest", ...forged, Connection }), 401);
      }
    });

    test("a stream passes, and ends when the caller's row goes", async () => {
      service.asked = [];
      const stream = proxy.stream("v1/queries/purchases/events", { cookie: "who=ada" });
      await stream.until("event: snapshot");
      database.run("INSERT INTO purchase VALUES (3, 7, 'Bread'), (4, 8, 'Dates')");
      await stream.until("Bread");
      // The service is asked when a stream begins: who signs out there only is let in no more, but stays.
      service.sessions.delete("ada");
      assert.equal(await ask({ cookie: "who=ada" }), 401);
      database.run("DELETE FROM purchase WHERE id > 2");
      await stream.until('"deletion"');
      assert.equal(stream.isEnded, false);
      assert.equal(service.asked.length, 2);
      // The statement is asked with each commit.
      database.run("DELETE FROM account WHERE name = 'ada'");
      await stream.ended;
      assert.match(stream.text, /event: fetchError\ndata: .*"status":401.*\n\n$/);
      assert.ok(!/Cheese|Dates/.test(stream.text));
      service.sessions.set("ada", "staff, admins");
      assert.equal(await ask({ cookie: "who=ada" }), 401);
      database.run("INSERT INTO account VALUES (7, 'ada')");
      assert.deepEqual(await ask({ cookie: "who=ada" }), ["Apples"]);
    });

    test("so does EventSource, and the page tells", { skip: noBrowser }, async (t) => {
      const browser = await Browser.start();
      t.after(() => browser.stop());
      const tab = browser.first;
      await tab.setCookie("who", "bob", proxy.url);
      await tab.go(`${proxy.url}#purchases`);
      const shows = (expected) => document.body.dataset.state === "live" && expected
        === [...document.querySelectorAll("#records .record [role=cell]:last-child")].map((cell) => cell.textContent).join(" ");
      await tab.until(shows, "Cheese");
      database.run("INSERT INTO purchase VALUES (5, 8, 'Eggs'), (6, 7, 'Figs')");
      await tab.until(shows, "Cheese Eggs");
      database.run("DELETE FROM account WHERE name = 'bob'");
      await tab.until(() => document.body.dataset.state === "signedOut");
      assert.ok(!(await tab.run(() => document.body.innerText)).includes("Cheese"));
    });

    test("where the service cannot be asked nobody is let in", async () => {
      service.stop();
      for (const headers of [{}, { cookie: "who=ada" }, { "x-forwarded-user": "ada" }]) {
        const status = await ask(headers);
        assert.ok(status >= 500, `${status}`);
      }
    });
  });
});
