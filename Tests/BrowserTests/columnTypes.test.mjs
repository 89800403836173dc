// How the page shows the values of columns whose type says more than their kind.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { typesText } from "../../Public/page/typed.js";
import { kindOf, valueText } from "../../Public/page/values.js";
import { noServer } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";
import { noBrowser } from "./support/webdriver.mjs";

test("values of typed columns are told apart by kind", () => {
  assert.deepEqual([true, [], {}, { url: "a", bytes: 1 }].map(kindOf), ["boolean", "json", "json", "json"]);
  assert.equal(valueText(false), "false");
  assert.equal(valueText({ a: [1, 9007199254740993n] }), '{"a":[1,9007199254740993]}');
  assert.equal(typesText({ done: "boolean", photo: { blob: "image/png" } }), "done boolean, photo image/png");
  assert.equal(typesText(undefined), "");
});

/** A red dot. */
const dot = "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cf"
  + "c0000003010100c9fe92ef0000000049454e44ae426082";

describe("the page", { skip: noBrowser || noServer, timeout: 600_000 }, () => {
  let browser, server, database;

  stage({ browser: true, sql: `
    CREATE TABLE pet (id INTEGER PRIMARY KEY, tame BOOLEAN, tags JSON, photo BLOB, film BLOB);
    INSERT INTO pet VALUES (1, 1, '["a", 2]', x'${dot}', x'00')`,
  configuration: "queries: {pets: {table: pet, columns: {photo: {blob: image/png}, film: {blob: video/mp4}}}}",
  }, (made) => ({ browser, database, server } = made));

  test("shows images, JSON and truth values, and names the types", async () => {
    const tab = await browser.open(`${server.url}#pets`);
    const cells = (expected) => [...document.querySelectorAll("#records [role=cell]")]
      .map((cell) => cell.textContent).join("|") === expected;
    await tab.until(cells, '1|true|["a",2]||video/mp4, 1 B');
    await tab.until(() => document.querySelector("#records img").naturalWidth === 1);
    const before = await tab.run(() => document.querySelector("#records img").src);
    // A photo that changes is fetched again; one that is none says what it is instead.
    database.run("UPDATE pet SET photo = x'00', tame = 0");
    await tab.until(cells, '1|false|["a",2]|image/png, 1 B|video/mp4, 1 B');
    assert.match(before, /\/v1\/queries\/pets\/records\/1\/photo\?digest=/);
    await tab.click("#about summary");
    await tab.until(() => document.getElementById("details").textContent.includes(
      "tame boolean, tags json, photo image/png, film video/mp4"));
    await tab.close();
  });
});
