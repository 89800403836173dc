// How long a page is busy with one change set in a bound list, until it is laid out: a real server, and another
// process that commits, in Chromium. Beside it, in turns, the physical limit: the same operations by hand on a
// list like it. Also the processor time of the page's thread meanwhile, in which other work of the machine does
// not count, but painting does. Run by hand, with a release build:
//
//     DIDCHANGE_PROGRAM=.build/release/didchange node Benchmarks/Bind/bind.mjs [rows] [changes] [commits] [public]
//
// `public` is the folder of another version of the module, to compare with.

import { copyFileSync, cpSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Database, Folder, publicFolder, Server } from "../../Tests/BrowserTests/support/server.mjs";
import { Browser } from "../../Tests/BrowserTests/support/webdriver.mjs";

const [rows = 10_000, changes = 100, commits = 60] = process.argv.slice(2, 5).map(Number);
const other = process.argv[5];

const folder = new Folder();
const database = new Database(folder.file("items.sqlite"), `
  CREATE TABLE item (id INTEGER PRIMARY KEY, rank REAL, name TEXT);
  INSERT INTO item SELECT value, value, 'item ' || value FROM generate_series(1, ${rows});
  CREATE INDEX itemByRank ON item (rank);`);
cpSync(other ?? publicFolder, folder.file("public"), { recursive: true });
copyFileSync(fileURLToPath(new URL("bind.html", import.meta.url)), folder.file("public/bind.html"));
const server = await new Server(["--config", folder.file("items.yaml",
  `database: ${database.path}\nqueries: {items: {table: item, order: [rank]}}`)],
{ env: { DIDCHANGE_PUBLIC: folder.file("public") } }).start();
const browser = await Browser.start();
const tab = browser.first;

/** A quarter each deleted, moved over ten others, updated and inserted, all over the list. */
const commit = (turn) => {
  const [quarter, step] = [changes / 4, Math.floor(4 * rows / changes)];
  const some = (shift) => `SELECT id FROM chosen WHERE (place + ${97 * turn + shift}) % ${step} = 0 LIMIT ${quarter}`;
  return `BEGIN;
    CREATE TEMP TABLE chosen AS SELECT id, row_number() OVER (ORDER BY rank) AS place FROM item;
    DELETE FROM item WHERE id IN (${some(0)});
    UPDATE item SET rank = rank + 10.123 WHERE id IN (${some(7)});
    UPDATE item SET name = name || '!' WHERE id IN (${some(30)});
    INSERT INTO item (rank, name) SELECT rank + 0.0123, 'new' FROM item WHERE id IN (${some(60)});
    COMMIT;`;
};

await tab.go(`${server.url}bind.html`);
await tab.until((rows) => document.getElementById("list").childElementCount === rows, rows);
await tab.run(() => begin());
await tab.devtools("Performance.enable", { timeDomain: "threadTicks" });

/** What an action gives, and the milliseconds of processor time of the page's thread meanwhile. */
async function busy(action) {
  const time = async () => {
    const { metrics } = await tab.devtools("Performance.getMetrics");
    return 1000 * metrics.find(({ name }) => name === "ThreadTime").value;
  };
  const before = await time();
  const milliseconds = await action();
  return { milliseconds, processor: await time() - before };
}

const all = [];
for (let turn = 0; turn < commits; turn++) {
  // What it costs to ask.
  const asked = await busy(() => tab.run(() => 0));
  await tab.run(() => note());
  const bound = await busy(async () => {
    database.run(commit(turn));
    return tab.run(() => next);
  });
  // What glides comes to rest.
  await new Promise((resolve) => setTimeout(resolve, 350));
  const count = await tab.run(() => translate());
  const byHand = await busy(() => tab.run(() => repeat()));
  if (!await tab.run(() => isSame())) throw new Error("the copy is another list");
  all.push({ count, asked: asked.processor, bound, byHand });
}

const rank = (list, share) => list.sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(share * list.length))].toFixed(1);
const line = (name, value) => `| ${name} | ${[0, 0.5, 0.95, 1].map((share) => rank(all.map(value), share)).join(" | ")} |`;
console.log(`${rows} rows, ${changes} changes a commit, ${all[0].count} operations, ${commits} commits${other ? `, ${other}` : ""}\n`);
console.log("| milliseconds | shortest | median | 95 % | longest |\n|---|---|---|---|---|");
console.log(line("applied, drawn and laid out", ({ bound }) => bound.milliseconds));
console.log(line("by hand", ({ byHand }) => byHand.milliseconds));
console.log(line("processor time, painted", ({ bound, asked }) => bound.processor - asked));
console.log(line("by hand", ({ byHand, asked }) => byHand.processor - asked));
await browser.stop();
await server.stop();
folder.remove();
process.exit();
