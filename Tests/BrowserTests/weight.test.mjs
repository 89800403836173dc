// What an app downloads that shows one live list: demo.html, from what Scripts/minify makes, in a real browser.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { Middle } from "./support/middle.mjs";
import { Database, eventually, Folder, noServer, Server, teams, teamsConfiguration } from "./support/server.mjs";
import { Browser, noBrowser, without } from "./support/webdriver.mjs";

/** Bytes with brotli, of all files of the module that it loads, the worker's included; and as the sources stand. */
const [most, mostOfSources] = [12_000, 19_700];

const noMinifier = without("esbuild");
const minify = fileURLToPath(new URL("../../Scripts/minify", import.meta.url));
const readable = fileURLToPath(new URL("../../Public", import.meta.url));

const shows = (text) => document.getElementById("players").innerText.replace(/\n/g, " ") === text;

test("an app with one list downloads at most 12 kB of module", { skip: noBrowser || noServer || noMinifier, timeout: 60_000 }, async (t) => {
  const folder = new Folder();
  t.after(() => folder.remove());
  execFileSync(minify, [folder.file("Public")]);
  const database = new Database(folder.file("teams.sqlite"), teams);
  const configuration = folder.file("teams.yaml", teamsConfiguration(database.path));
  const server = await new Server(["--config", configuration], { env: { DIDCHANGE_PUBLIC: folder.file("Public") } }).start();
  t.after(() => server.stop());
  const middle = await new Middle(server).start();
  t.after(() => middle.stop());
  const browser = await Browser.start();
  t.after(() => browser.stop());
  const tab = await browser.open(`${middle.url}demo.html`);
  await tab.until(shows, "Blue Ada 10 Barbara 20 Cyd 30 Green Dora 40 Red Eve 50 Fay 60");
  database.run("UPDATE player SET team = 'Green' WHERE id = 3");
  await tab.until(shows, "Blue Ada 10 Barbara 20 Green Cyd 30 Dora 40 Red Eve 50 Fay 60");

  const files = await eventually(() => {
    const paths = new Set(middle.log.map(({ path }) => path).filter((path) => path.endsWith(".js")));
    return paths.has("/didchange/pulse.js") && [...paths];
  }, "the worker's last file is sent");
  assert.ok(files.includes("/didchange/worker.js"));
  const weigh = (root, compress) => files.reduce((sum, path) => sum + compress(readFileSync(root + path)).length, 0);
  const minified = folder.file("Public");
  const [weight, sources] = [minified, readable].map((root) => weigh(root, brotliCompressSync));
  t.diagnostic(`${files.length} files: ${weight} bytes with brotli, ${weigh(minified, gzipSync)} with gzip; `
    + `the sources: ${sources} and ${weigh(readable, gzipSync)}`);
  assert.ok(weight <= most, `${weight} bytes: ${files.join(", ")}`);
  assert.ok(sources <= mostOfSources, `${sources} bytes as the sources stand: ${files.join(", ")}`);
});
