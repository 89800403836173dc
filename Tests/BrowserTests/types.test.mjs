// The types hold for what a TypeScript program would write.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { programNamed } from "./support/webdriver.mjs";

const compiler = programNamed("tsc");

test("a program that uses all of it compiles", { skip: compiler ? false : "tsc is not installed (Debian: node-typescript)" }, () => {
  const { status, stdout } = spawnSync(compiler, ["--noEmit", "--strict", "--target", "es2020",
    "--lib", "es2020,dom,dom.iterable", "--module", "esnext", "--moduleResolution", "node",
    fileURLToPath(new URL("support/use.ts", import.meta.url))], { encoding: "utf8" });
  assert.equal(status, 0, stdout);
});
