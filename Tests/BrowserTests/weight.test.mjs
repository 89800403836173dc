// What an app downloads that shows one live list: demo.html, from what Scripts/minify makes, in a real browser.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { Middle } from "./support/middle.mjs";
import { eventually, noServer, teams, teamsConfiguration } from "./support/server.mjs";
import { stageFor } from "./support/stage.mjs";
import { noBrowser, without } from "./support/webdriver.mjs";

/** Bytes with brotli, of all files of the module that it loads, the worker's included; and as the sources stand. */
const [most, mostOfSources] = [12_000, 19_850];

const noMinifier = without("esbuild");
const minify = fileURLToPath(new URL("../../Scripts/minify", import.meta.url));
const readable = fileURLToPath(new URL("../../Public", import.meta.url));

const shows = (text) => document.getElementById("players").innerText.replace(/\n/g, " ") === text;

test("an app with one list downloads at most 12 kB of module", { skip: noBrowser || noServer || noMinifier, timeout: 600_000 }, async (t) => {
  const made = await stageFor(t, { browser: true, sql: teams, configuration: teamsConfiguration, pages: {}, files(folder) {
    rmSync(folder, { recursive: true });
    execFileSync(minify, [folder]);
  } });
  const { browser, database, server } = made;
  const middle = made.keep(await new Middle(server).start());
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
  const minified = made.public;
  const [weight, sources] = [minified, readable].map((root) => weigh(root, brotliCompressSync));
  t.diagnostic(`${files.length} files: ${weight} bytes with brotli, ${weigh(minified, gzipSync)} with gzip; `
    + `the sources: ${sources} and ${weigh(readable, gzipSync)}`);
  assert.ok(weight <= most, `${weight} bytes: ${files.join(", ")}`);
  assert.ok(sources <= mostOfSources, `${sources} bytes as the sources stand: ${files.join(", ")}`);
});
