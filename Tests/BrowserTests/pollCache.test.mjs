// Scripts/proxies/nginx-polls.conf: clients who wait for the same changes, and nginx's cache before the server.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { noProxy, Proxy } from "./support/proxies.mjs";
import { eventually, metric, noServer, teams, teamsConfiguration } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";

describe("long polls behind nginx's cache", { concurrency: 1, skip: noServer || noProxy("nginx"), timeout: 600_000 }, () => {
  const crowd = 100;
  let database, server, proxy;

  stage({ sql: teams, configuration: (path) => `${teamsConfiguration(path)}
proxies: [127.0.0.1]
callers: {opaque: true, cookie: session, operators: anyone, claims: "SELECT name AS user, team FROM player WHERE :token IS NOT NULL AND id = 1"}
`.replace("section: team}", "section: team, allow: anyone}").replace("{type: text, default: Blue}", "{type: text, claim: team}"),
  }, async (made) => {
    ({ database, server } = made);
    proxy = made.keep(await Proxy.start("nginx", made.folder, { recipe: "nginx-polls.conf", words: [
      ["127.0.0.1:8080", `127.0.0.1:${server.port}`], ["/var/cache/nginx/didchange", made.folder.file("cache")],
    ] }));
  });

  const poll = async (words, headers) => {
    const { status, head, text } = await proxy.get(`v1/queries/players/changes?${new URLSearchParams(words)}`, headers);
    return { status, head, text, body: status === 200 ? JSON.parse(text) : null };
  };

  const version = async () => (await (await fetch(`${server.url}v1/queries/players/records?limit=1`)).json()).version;

  /** As many as there are, who have come one after the other. */
  const waiting = async (words) => {
    const answers = Array.from({ length: crowd }, () => poll(words));
    await eventually(async () => await metric(server, "polls") >= 1, "one waits");
    // Whoever does not wait for the one waits at the server by now.
    await proxy.get("v1/queries/players/records");
    assert.ok(await metric(server, "polls") <= 1);
    return answers;
  };

  test("a crowd is one request at the server, and all are told the change", async () => {
    const known = await version();
    const answers = await waiting({ after: known, wait: 60 });
    database.run("UPDATE player SET name = 'Abe' WHERE id = 1");
    for (const { status, head, body } of await Promise.all(answers)) {
      assert.equal(status, 200);
      assert.equal(head["cache-control"], "public, max-age=60");
      assert.equal(body.from, known);
      assert.deepEqual(body.events.map(({ event }) => event), ["willChange", "change", "didChange"]);
    }
    assert.equal(await metric(server, "polls"), 0);
    // Whoever comes late is told from the cache.
    const { body } = await poll({ after: known, wait: 60 });
    database.run("UPDATE player SET name = 'Amy' WHERE id = 1");
    await eventually(async () => await version() !== body.version, "the server has noticed the commit");
    assert.equal((await poll({ after: known, wait: 60 })).body.version, body.version);
  });

  test("while nothing happens, each time is one request at the server", async () => {
    const known = await version();
    let answers = await Promise.all(await waiting({ after: known, wait: 1 }));
    for (let round = 0; round < 3; round++) {
      const cursors = new Set(answers.map(({ body }) => body.cursor));
      assert.equal(cursors.size, 1);
      for (const { body } of answers) assert.deepEqual(body.events, []);
      const [cursor] = cursors;
      answers = await Promise.all(await waiting({ after: known, wait: 1, cursor }));
    }
  });

  test("what is a caller's own is nobody else's", async () => {
    const words = `v1/queries/team/changes?after=1.1&wait=0`;
    const answer = await proxy.get(words, { authorization: "Bearer ann" });
    assert.equal(answer.status, 200);
    assert.equal(answer.head["cache-control"], "private, no-cache");
    assert.equal((await proxy.get(words, { cookie: "session=ann" })).status, 200);
    assert.equal((await proxy.get(words)).status, 401);
    assert.equal((await proxy.get(words, { authorization: "Bearer ann" })).status, 200);
  });
});
