// README.md and the articles: what README.md says is done, and what they say of the server is what it says.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { patternOf, stepsOf } from "./support/cookbook.mjs";
import { articles, codes, deadLinks, Desk, links, missingFiles, read, root, rows, synopsis, texts } from "./support/readme.mjs";
import { Database, Folder, noServer, program, Server } from "./support/server.mjs";
import { Browser, noBrowser, programNamed } from "./support/webdriver.mjs";

/** Commands of README.md that are not run here, and where they are. */
const runElsewhere = new Map([
  ["Scripts/package", "it builds for minutes: Scripts/test-package installs what it makes"],
  ["sudo apt install ./.build/packages/didchange_*.deb", "it changes the system: Scripts/test-package does it in a root of its own"],
]);

const shows = (...expected) =>
  expected.join() === [...document.querySelectorAll("li, ul > :not(li)")].map(({ textContent }) => textContent).join();

/** The path of a page that is opened → what is seen there. */
const seenAt = {
  async "/"(tab) {
    await tab.until(() => document.querySelectorAll("#records .record").length > 3);
  },
  async "/players.html"(tab, desk) {
    await tab.until(shows, "Blue", "Ada", "Red", "Barbara", "Grace");
    await desk.run(`sqlite3 music.sqlite "INSERT INTO player (name, team) VALUES ('Zuse', 'Red')"`);
    await tab.until(shows, "Blue", "Ada", "Red", "Barbara", "Grace", "Zuse");
  },
};

describe("README.md", { skip: noServer }, () => {
  const text = read("README.md");
  const steps = stepsOf(text, "README.md");

  test("is short", () => assert.ok(text.split("\n").length <= 280));

  test("is as it says, command by command", { skip: noBrowser, timeout: 600_000 }, async (t) => {
    const desk = new Desk();
    t.after(() => desk.stop());
    await desk.start({ text });
    const notRun = new Set(runElsewhere.keys());
    for (const { file, content, command, seen, open, interrupt } of steps) {
      if (file) desk.write(file, content);
      else if (notRun.delete(command)) t.diagnostic(`${command} is not run: ${runElsewhere.get(command)}`);
      else if (command) await desk.run(command, seen);
      else if (command === "") await desk.appears(seen);
      else if (interrupt) assert.equal(await desk.interrupt(), 0);
      else if (open) await visit(t, desk.here(open), desk);
    }
    assert.deepEqual([...notRun], [], "these are in README.md no more");
    assert.equal(desk.leftOver, "");
  });

  async function visit(t, url, desk) {
    const browser = await Browser.start();
    t.after(() => browser.stop());
    await browser.first.go(url);
    await seenAt[new URL(url).pathname](browser.first, desk);
    assert.deepEqual((await browser.console()).filter(({ level }) => level === "SEVERE"), []);
    await browser.first.go("about:blank");
  }

  test("shows the error that a slip gives", (t) => {
    const folder = new Folder();
    t.after(() => folder.remove());
    const { command } = steps.find(({ command }) => command?.startsWith("sqlite3 music.sqlite"));
    execFileSync("sh", ["-c", command], { cwd: folder.path });
    const { content } = steps.find(({ file }) => file === "music.yaml");
    folder.file("music.yaml", content.replace("[name]", "[nam]"));
    const { stderr, status } = spawnSync(program, ["check", "--config", "music.yaml"], { cwd: folder.path, encoding: "utf8" });
    assert.equal(status, 1);
    const [error] = codes(text).filter((code) => code.startsWith("music.yaml:"));
    assert.ok(stderr.split("\n")[0].startsWith(error), `README.md says “${error}”, and it is “${stderr}”`);
  });

  test("has Swift code of tests, which are compiled", () => {
    const compiled = readdirSync(join(root, "Tests"), { recursive: true }).filter((file) => file.endsWith("ReadmeTests.swift"))
      .map((file) => read(join("Tests", file)).split("\n").map((line) => `${line.trim()}\n`).join(""));
    for (const { swift } of steps.filter(({ swift }) => swift)) {
      const pattern = new RegExp(patternOf(swift.trim().split("\n").map((line) => line.trim())));
      assert.ok(compiled.some((text) => pattern.test(text)), `no test named …ReadmeTests.swift has:\n${swift}`);
    }
  });

  test("has lines of a Package.swift by which a program resolves the library's packages alone", { skip: !programNamed("swift") && "swift is not installed (https://www.swift.org/install)" }, (t) => {
    const folder = new Folder();
    t.after(() => folder.remove());
    const [lines] = /^    dependencies: \[\.package.*\n    targets: .*$/m.exec(text);
    const players = folder.file("players");
    mkdirSync(join(players, "Sources/Players"), { recursive: true });
    symlinkSync(root, folder.file("didchange"));
    writeFileSync(join(players, "Sources/Players/main.swift"), "");
    writeFileSync(join(players, "Package.swift"),
      `// swift-tools-version: 6.1\nimport PackageDescription\nlet package = Package(\n  name: "Players", platforms: [.macOS(.v14)],\n${lines})\n`);
    const { dependencies } = JSON.parse(execFileSync("swift", ["package", "show-dependencies", "--format", "json"],
      { cwd: players, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
    const names = ({ identity, dependencies }) => [identity, ...dependencies.flatMap(names)];
    assert.deepEqual([...new Set(dependencies.flatMap(names))].sort(),
      ["didchange", "grdb.swift", "swift-algorithms", "swift-collections", "swift-numerics"]);
  });

  test("names the options that there are, and no others", () => {
    for (const [command, options] of synopsis(text)) {
      const help = execFileSync(program, ["help", command], { encoding: "utf8" });
      const known = help.match(/^  (?:-\w, )?--[a-z-]+/gm).map((option) => option.trim().replace(/^-\w, /, ""));
      assert.deepEqual(options.slice().sort(), known.filter((option) => !["--help", "--version"].includes(option)).slice().sort(), command);
    }
    const help = execFileSync(program, ["--help"], { encoding: "utf8" }).split("SUBCOMMANDS:")[1];
    const commands = [...help.matchAll(/^  ([\w-]+)(?: \(default\))? {2,}/gm)].map(([, name]) => name);
    assert.deepEqual([...synopsis(text).keys()].slice().sort(), commands.slice().sort());
  });

  test("has a changelog whose last version is the program's", () => {
    const [, last] = [...read("CHANGELOG.md").matchAll(/^## \[(.*?)\]/gm)].map(([, version]) => version);
    assert.equal(last, execFileSync(program, ["--version"], { encoding: "utf8" }).trim());
  });

  test("leads to each article about the server", () => {
    const found = new Set(["README.md"]);
    for (const file of found) for (const link of links(file)) if (link.endsWith(".md")) found.add(link);
    assert.deepEqual(articles.filter((file) => file.includes("RecordsAPI.docc") && !found.has(file)), []);
  });
});

describe("every text", () => {
  for (const file of texts) test(`${file} leads to what is there`, () => {
    assert.deepEqual(deadLinks(file), []);
    assert.deepEqual(missingFiles(file).filter((path) => path !== "Public/players.html" && !file.includes("Cookbook/")), []);
  });
});

describe("the articles about the server", { skip: noServer }, () => {
  const article = (name) => read(`Sources/RecordsAPI/RecordsAPI.docc/${name}.md`);
  let folder;
  before(() => (folder = new Folder()));
  after(() => folder.remove());

  /** What `didchange check` says of a configuration over the tables that texts speak of. */
  function check(configuration) {
    const database = folder.file("tables.sqlite");
    execFileSync("sqlite3", [database], { input: tables });
    folder.file("some.yaml", configuration);
    return spawnSync(program, ["check", database, "--config", "some.yaml"], { cwd: folder.path, encoding: "utf8" });
  }

  test("have configurations that can be read", () => {
    const blocks = ["README.md", ...articles.filter((file) => file.startsWith("Sources/RecordsAPI/") && !/Cookbook\/|Backups/.test(file))]
      .flatMap((file) => [...read(file).matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, block]) => [file, block]));
    assert.ok(blocks.length > 4);
    for (const [file, block] of blocks) {
      const { status, stderr } = check(block);
      assert.equal(status, 0, `${file}:\n${block}\n${stderr}`);
    }
  });

  /** The words that an unknown one has listed. */
  function wordsOf(configuration, owner) {
    const { stderr } = check(configuration);
    const listed = new RegExp(`"nonesuch" is not a word of ${owner}; the words are (.*)`).exec(stderr)?.[1];
    assert.ok(listed, `${configuration}: ${stderr}`);
    return listed.split(", ").slice().sort();
  }
  const wordsIn = (text, ...headings) => rows(text, ...headings).flatMap(([words]) => codes(words)).slice().sort();
  const section = (name, title) => article(name).split(/^## /m).find((part) => part.startsWith(title)) ?? assert.fail(title);

  test("have the words of the configuration", () => {
    assert.deepEqual(wordsIn(section("Configuration", "The file"), "word"), wordsOf("nonesuch: 1", "the configuration"));
    assert.deepEqual(wordsIn(section("Configuration", "A query"), "word"), wordsOf("queries: {a: {nonesuch: 1}}", "a query"));
    assert.deepEqual(wordsIn(section("Configuration", "A parameter"), "word"),
      wordsOf("queries: {a: {table: player, parameters: {b: {nonesuch: 1}}}}", "a parameter"));
    assert.deepEqual(wordsIn(article("Limits"), "`limits`"), wordsOf("limits: {nonesuch: 1}", "`limits`"));
    assert.deepEqual(wordsIn(article("Limits"), "`timeouts`"), wordsOf("timeouts: {nonesuch: 1}", "`timeouts`"));
    const ofCallers = codes(article("Callers")).join(" ");
    for (const word of wordsOf("callers: {nonesuch: 1}", "`callers`")) assert.match(ofCallers, new RegExp(`\\b${word}\\b`));
  });

  test("have the words of an access log, and the names that parameters cannot have", () => {
    const line = codes(rows(section("Configuration", "The file"), "word").find(([word]) => word === "`accessLog`")[1]).at(-1);
    assert.equal(check(`accessLog: "${line}"`).status, 0);
    const listed = /the words are (.*)/.exec(check('accessLog: "{nonesuch}"').stderr)[1];
    assert.deepEqual(line.match(/\w+/g).slice().sort(), listed.split(", ").slice().sort());

    const reserved = codes(section("Configuration", "A parameter").split("are refused:")[1]).slice().sort();
    const { stderr } = check("queries: {a: {table: player, where: 'id = :offset', parameters: {offset: {type: integer}}}}");
    assert.deepEqual(reserved, /reserved are (.*)/.exec(stderr)[1].split(", ").slice().sort());
  });

  test("have the types of columns", () => {
    const types = rows(article("ColumnTypes"), "type").flatMap(([type]) => codes(type));
    for (const type of types) assert.equal(check(`queries: {a: {table: player, columns: {name: ${type}}}}`).status, 0, type);
    const { stderr } = check("queries: {a: {table: player, columns: {name: nonesuch}}}");
    const listed = /the types are (.*)/.exec(stderr)[1].replace("MEDIA/TYPE", "image/png").split(", ");
    assert.deepEqual(types.slice().sort(), listed.slice().sort());
  });

  test("have the requests that are answered", async (t) => {
    const database = new Database(folder.file("music.sqlite"), "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT);"
      + "INSERT INTO player VALUES (7, 'Ada', 'Blue')");
    const configuration = folder.file("music.yaml", "queries: {players: {table: player, section: team}, teams: {table: player}}");
    const server = new Server([database.path, "--config", configuration, "--explore"]);
    await server.start();
    t.after(() => server.stop());

    const requests = rows(article("Resources"), "request").flatMap(([cell]) => {
      const method = /[A-Z]+/.exec(cell)[0];
      return codes(cell).map((code) => ({ method, path: code.replace(/^[A-Z]+ /, "") }));
    });
    const values = { query: "players", key: "7", column: "name", section: "0", item: "0", title: "B" };
    const version = (await (await fetch(`${server.url}v1/queries/players/records`)).json()).version;
    for (const { method, path } of requests) {
      if (path === "/v1/tickets") continue;
      const filled = path.replace(/\{(\w+)\}/g, (_, name) => values[name]).replace("query=…&query=…", "query=players&query=teams").replace("sql=…", "sql=SELECT%201")
        .replace("offset=…&limit=…", "offset=0&limit=1").replace("after=…&wait=20&cursor=…", `after=${version}&wait=0`);
      assert.doesNotMatch(filled, /[…{}]/);
      const abort = new AbortController();
      const response = await fetch(new URL(filled, server.url), { method, signal: abort.signal });
      assert.equal(response.status, 200, `${method} ${filled}`);
      abort.abort();
    }
    // Without callers nobody has a token; so it is there, and for POST alone.
    const tickets = await fetch(`${server.url}v1/tickets`);
    assert.deepEqual([tickets.status, tickets.headers.get("allow")], [405, "POST, OPTIONS"]);

    const { paths } = await (await fetch(`${server.url}v1/openapi.json`)).json();
    const described = Object.keys(paths).filter((path) => !path.includes("/teams")).map((path) => path.replace("/players", "/{query}"));
    const written = requests.map(({ path }) => path.split("?")[0]).filter((path) => path !== "/v1/tickets");
    assert.deepEqual(written.slice().sort(), described.slice().sort());
  });
});

/** The tables that texts speak of. */
const tables = `
  DROP TABLE IF EXISTS player; CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INTEGER, country TEXT);
  DROP TABLE IF EXISTS author; CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
  DROP TABLE IF EXISTS book; CREATE TABLE book (id INTEGER PRIMARY KEY, authorId INTEGER);
  DROP TABLE IF EXISTS session; CREATE TABLE session (token TEXT PRIMARY KEY, user INTEGER, role TEXT, expires INTEGER);
  DROP TABLE IF EXISTS orders; CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER);
  DROP TABLE IF EXISTS pet; CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT, tame INTEGER, born TEXT, tags TEXT, photo BLOB);`;
