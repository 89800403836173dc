// The parts of the page that need no document.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { claimedNames, curlCommand } from "../../Public/page/details.js";
import { missingParameters } from "../../Public/page/parameters.js";
import { readRoute, writeRoute } from "../../Public/page/route.js";
import { jsonText, kindOf, sizeText, valueText } from "../../Public/page/values.js";

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

test("the command for a terminal means one address to a shell", () => {
  const url = `http://127.0.0.1/v1/queries/${encodeURIComponent("it's \"$HOME\" `x`")}/events?a=%27`;
  const words = execFileSync("/bin/sh", ["-c", `curl() { printf '%s|' "$@"; }\n${curlCommand(url)}`], { encoding: "utf8" });
  assert.equal(words, `-N|${url.replace("'", "%27")}|`);
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

test("the page knows which arguments come from who you are, where it sees the statement", () => {
  const sql = "SELECT ':no', \"a:b\", x -- :not\n FROM [t:u] WHERE customer = :customer AND team = :team /* :nor */";
  assert.deepEqual(claimedNames({ sql, parameters: [{ name: "team" }] }), ["customer"]);
  assert.deepEqual(claimedNames({ parameters: [] }), []);
  assert.equal(curlCommand("http://h/", true), `curl -N -H "Authorization: Bearer $TOKEN" 'http://h/'`);
});
