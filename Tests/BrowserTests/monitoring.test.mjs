// Scripts/monitoring: its rules are right, and all that they and the dashboard ask for is at /metrics.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";
import { join } from "node:path";
import { codes, read, root, texts } from "./support/readme.mjs";
import { noServer, teams, teamsConfiguration } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";
import { without } from "./support/webdriver.mjs";

const folderOfRules = join(root, "Scripts/monitoring");
const noPromtool = without("promtool");

describe("Scripts/monitoring", { skip: noServer }, () => {
  let names, labels;

  stage({ sql: teams, configuration: teamsConfiguration }, async (made) => {
    const { server } = made;
    assert.equal((await fetch(`${server.url}v1/queries/players/records`)).status, 200);
    const text = await (await fetch(`${server.url}metrics`)).text();
    names = new Set(text.split("\n").map((line) => /^\w+/.exec(line)?.[0]).filter(Boolean));
    for (const [, name] of text.matchAll(/^# TYPE (\w+)/gm)) names.add(name);
    labels = new Map([...names].map((name) =>
      [name, new Set([...text.matchAll(new RegExp(`^${name}\\{(.*)\\} `, "gm"))].flatMap(([, pairs]) => pairs.match(/\w+(?==")/g)))]));
  });

  const { panels } = JSON.parse(read("Scripts/monitoring/dashboard.json"));
  const expressions = [
    ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr])),
    ...read("Scripts/monitoring/alerts.yml").split("- alert: ").slice(1).map((rule) =>
      [/\w+/.exec(rule)[0], rule.slice(rule.indexOf("expr:"), rule.search(/^ +(for|labels):/m))]),
  ];

  test("asks for what is at /metrics, by labels that it has", () => {
    assert.ok(expressions.length > 20);
    // Prometheus adds these to all that it scrapes.
    const added = ["instance", "job"];
    for (const [title, expression] of expressions) {
      const asked = expression.match(/\b(?:didchange|process)_\w+/g) ?? expression.match(/\bup\b/g);
      assert.ok(asked, `${title} asks for nothing`);
      const had = new Set([...added, ...asked.flatMap((name) => [...(labels.get(name) ?? [])])]);
      for (const name of asked) assert.ok(name === "up" || names.has(name), `${title}: no ${name} is at /metrics`);
      const matched = [...expression.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label]) => label);
      const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list.split(/, ?/));
      for (const label of [...matched, ...grouped]) assert.ok(had.has(label), `${title}: ${asked} has no label ${label}`);
    }
  });

  test("is spoken of with names that there are", () => {
    const spoken = texts.filter((file) => file !== "Benchmarks/README.md").flatMap((file) => codes(read(file))
      .flatMap((code) => code.match(/^didchange_\w+(?=$|\{)/g) ?? []).map((name) => [file, name]));
    assert.ok(spoken.length > 0);
    for (const [file, name] of spoken) assert.ok(names.has(name), `${file}: no ${name} is at /metrics`);
  });

  for (const [what, ...command] of [
    ["rules that are right", "check", "rules", "alerts.yml"],
    ["alerts that come when they shall", "test", "rules", "alerts.test.yml"],
    ["a configuration for Prometheus", "check", "config", "prometheus.yml"],
  ]) {
    test(`has ${what}`, { skip: noPromtool }, () => {
      execFileSync("promtool", command, { cwd: folderOfRules, stdio: "pipe" });
    });
  }

  test("has a test in which each alert comes", () => {
    const alerts = [...read("Scripts/monitoring/alerts.yml").matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    const tests = read("Scripts/monitoring/alerts.test.yml").split("eval_time: ");
    const come = new Set(tests.filter((one) => one.includes("exp_labels")).map((one) => /alertname: (\w+)/.exec(one)[1]));
    assert.deepEqual(alerts.filter((name) => !come.has(name)), []);
  });
});
