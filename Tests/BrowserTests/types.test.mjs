// The types hold for what a TypeScript program would write, and for what a server says.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { eventually, noServer, teams } from "./support/server.mjs";
import { stageFor } from "./support/stage.mjs";
import { programNamed, without } from "./support/webdriver.mjs";

const compiler = programNamed("tsc");
const noCompiler = without("tsc");

function compile(file) {
  const { status, stdout } = spawnSync(compiler, ["--noEmit", "--strict", "--target", "es2020",
    "--lib", "es2020,dom,dom.iterable", "--module", "esnext", "--moduleResolution", "node", file], { encoding: "utf8" });
  assert.equal(status, 0, stdout);
}

test("a program that uses all of it compiles", { skip: noCompiler }, () =>
  compile(fileURLToPath(new URL("support/use.ts", import.meta.url))));

test("what a server says of its queries is what the types have, and no more", { skip: noCompiler || noServer, timeout: 600_000 }, async (t) => {
  const { database, folder, server } = await stageFor(t, {
    sql: `${teams} ALTER TABLE player ADD COLUMN done BOOLEAN; ALTER TABLE player ADD COLUMN photo BLOB`, configuration: `
queries:
  all:
    table: player
    where: score > :least
    section: team
    orders: {name: [name], best: [score DESC, team]}
    columns: {photo: {blob: image/png}}
    parameters: {least: {type: integer, default: 0}}
  totals: {title: Totals, sql: "SELECT team, sum(score) AS score FROM player GROUP BY team ORDER BY team"}
  last: {sql: SELECT name FROM player ORDER BY random()}
` });
  const end = new AbortController();
  t.after(() => end.abort());
  await Promise.all(["all", "totals"].map((name) => fetch(`${server.url}v1/queries/${name}/events`, { signal: end.signal })));
  database.run("UPDATE player SET score = 11 WHERE id = 1");
  const read = async (path) => (await fetch(server.url + path)).json();
  const isRefreshed = async () => (await read("v1/queries/all")).refreshes.incremental > 0;
  await eventually(isRefreshed, "a commit is refreshed");
  const { queries } = await read("v1/queries");
  const descriptions = await Promise.all(queries.map(({ name }) => read(`v1/queries/${name}`)));
  const words = new Set([...queries, ...descriptions].flatMap(Object.keys));
  for (const word of ["orderedBy", "columnTypes", "commits", "refreshes", "controllers"]) assert.ok(words.has(word), word);
  // Literals, in which the compiler takes no word that it does not know.
  compile(folder.file("said.ts", `import { Query } from ${JSON.stringify(fileURLToPath(new URL("../../Public/didchange.js", import.meta.url)))};
export const queries: Query[] = ${JSON.stringify(queries)};
export const descriptions: Query[] = ${JSON.stringify(descriptions)};`));
});
