// The reducer against the change sets that every implementation shares (Tests/Vectors).

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { applyChangeSet } from "../../Public/didchange.js";

const folder = new URL("../Vectors/", import.meta.url);

/** A file holds one vector or a list of them. */
const vectorsIn = (file) => [JSON.parse(readFileSync(new URL(file, folder), "utf8"))].flat();

for (const file of readdirSync(folder).filter((name) => name.endsWith(".json")).sort()) {
  for (const vector of vectorsIn(file)) {
    test(`${file}: ${vector.name}`, () => {
      const before = JSON.stringify(vector.old);
      const result = applyChangeSet(vector.old, vector.events);
      assert.deepEqual(result, vector.new);
      assert.equal(JSON.stringify(vector.old), before, "the old result was touched");
    });
  }
}
