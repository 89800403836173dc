// The parts of the page that need no document.

import assert from "node:assert/strict";
import { test } from "node:test";
import { missingParameters } from "../../Public/page/parameters.js";
import { readRoute, writeRoute } from "../../Public/page/route.js";
import { jsonText, kindOf, sizeText, valueText } from "../../Public/page/values.js";
import { rowsPerSection, visiblePart } from "../../Public/page/visible.js";

test("a route survives the address, whatever its characters", () => {
  const routes = [
    { query: "players", parameters: {} },
    { query: "players", parameters: { country: "FR", text: "a&b=c?d#e%f +ü" } },
    { query: "a/b?c#d%é", parameters: { "x y": "" } },
  ];
  for (const route of routes) assert.deepEqual(readRoute(writeRoute(route)), route);
});

test("an empty hash chooses nothing, a broken one is taken by the letter", () => {
  assert.equal(readRoute(""), null);
  assert.equal(readRoute("#"), null);
  assert.deepEqual(readRoute("#100%"), { query: "100%", parameters: {} });
});

test("a result of at most five hundred records is drawn whole", () => {
  assert.equal(rowsPerSection([500]), 500);
  assert.equal(rowsPerSection([300, 200]), 500);
  assert.equal(rowsPerSection([]), 500);
});

test("a longer one is drawn from the start of each section", () => {
  assert.equal(rowsPerSection([100_000]), 500);
  assert.equal(rowsPerSection([100_000, 100_000]), 250);
  assert.equal(rowsPerSection([100_000, 3, 4]), 250);
  assert.equal(rowsPerSection(Array(100).fill(1000)), 5);
});

test("sections beyond a hundred are counted, not drawn", () => {
  const sections = Array.from({ length: 250 }, (_, name) => ({ name, records: Array(10).fill({}) }));
  const part = visiblePart(sections);
  assert.equal(part.sections.length, 100);
  assert.equal(part.sectionsLeft, 150);
  assert.equal(part.sections[0].records.length, 5);
  assert.equal(part.sections[0].size, 10);
});

test("a parameter without a default must be given", () => {
  const declared = [
    { name: "country", type: "text" }, { name: "minimum", type: "integer", default: 0 },
    { name: "city", type: "text" }, { name: "team", type: "text", default: null },
  ];
  assert.deepEqual(missingParameters(declared, {}), ["country", "city"]);
  assert.deepEqual(missingParameters(declared, { country: "FR", city: "Lyon" }), []);
});

test("values are told apart by kind", () => {
  assert.deepEqual([null, 1, 2n, "", { base64: "" }].map(kindOf), ["null", "number", "number", "text", "blob"]);
  assert.equal(valueText({ base64: "AAECAwQFBgcICQ==" }), "blob, 10 B");
  assert.equal(sizeText(1234567), "1.2 MB");
});

test("JSON shows an integer beyond 2^53 as its digits", () => {
  assert.equal(jsonText({ a: 9007199254740993n, b: "1" }), '{"a":9007199254740993,"b":"1"}');
});
