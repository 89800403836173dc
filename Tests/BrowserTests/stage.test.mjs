// What tests play on ends with them, also where it could not be built.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { noServer, teams } from "./support/server.mjs";
import { Stage } from "./support/stage.mjs";
import { noBrowser } from "./support/webdriver.mjs";

test("a stage whose server does not start leaves nothing behind", { skip: noBrowser || noServer }, async () => {
  const stage = new Stage();
  await assert.rejects(stage.build({ browser: true, sql: teams, configuration: "nonesuch: 1", pages: { "a.html": "" } }), /ended before it was ready/);
  assert.ok(existsSync(`${stage.public}/a.html`));
  await stage.strike();
  assert.ok(!existsSync(stage.folder.path));
  await assert.rejects(stage.browser.call("GET", "/window"));
});
