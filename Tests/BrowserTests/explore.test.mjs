// The page's tab for any SELECT.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { after, describe, test } from "node:test";
import { addressOfExploration, configurationOf, placeOf, rangeOf } from "../../Public/page/explore.js";
import { readRoute } from "../../Public/page/route.js";
import { Database, eventually, Folder, noServer, program, Server, teams, teamsConfiguration } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";
import { Browser, noBrowser, noDevTools } from "./support/webdriver.mjs";

test("the place of a mistake is found in the text, which may begin with blanks", () => {
  assert.deepEqual(placeOf("12:8: no such column: nam"), [12, 8]);
  assert.equal(placeOf("no such column"), null);
  const word = (text, ...place) => text.slice(...rangeOf(text, ...place));
  assert.equal(word("SELECT nam FROM t", 1, 8), "nam");
  assert.equal(word("\n  SELECT a,\n  nam\nFROM t", 2, 3), "nam");
  assert.equal(word("SELECT '😀é', nam", 1, 14), "nam");
  assert.equal(word("SELECT (", 1, 8), "(");
  assert.equal(word("SELECT", 7, 9), "");
});

test("an address keeps the SELECT", () => {
  const sql = "SELECT '#&%+é', a\nFROM t -- ?";
  assert.deepEqual(readRoute(addressOfExploration(sql)), { query: "explore:", parameters: { sql } });
});

describe("a configuration", { skip: noServer }, () => {
  const folder = noServer ? null : new Folder();
  after(() => folder?.remove());

  test("that was made of a SELECT passes didchange check", () => {
    const database = new Database(folder.file("teams.sqlite"), teams);
    const selects = [
      "SELECT * FROM player", "  SELECT id,\n    name\n\nFROM player -- all: of # them\n;  ",
      "SELECT name AS \"a: b\", '# no', ' \t', '\u2028\u0085\u00a0😀é\u00ad' AS é FROM player",
      "SELECT id FROM player WHERE name = 'a''b' -- \\ \"", "SELECT 1 AS a\r\n, 2 AS b", "- SELECT".slice(2) + " 'x: |' AS x",
    ];
    for (const name of ["player", "true", "12", "-a.b-", "~", "Spieler é/x", "%"]) {
      for (const sql of selects) {
        const file = folder.file("a.yaml", configurationOf(sql, name));
        const said = execFileSync(program, ["check", database.path, "--config", file], { encoding: "utf8" });
        assert.match(said, /tracking/, `${name} ${sql}`);
        // The statement that runs may be another, but what it gives is the same.
        const columns = (config) => /columns +(.*)/.exec(config)[1];
        const plain = folder.file("b.json", JSON.stringify({ queries: { a: { sql: sql.trim() } } }));
        assert.equal(columns(said), columns(execFileSync(program, ["check", database.path, "--config", plain], { encoding: "utf8" })));
      }
    }
  });
});

/** A red dot. */
const png = "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cf"
  + "c0000003010100c9fe92ef0000000049454e44ae426082";

describe("exploring", { skip: noBrowser || noServer, timeout: 600_000 }, () => {
  let browser, folder, database, server;

  stage({ browser: true, sql: teams, configuration: teamsConfiguration, options: ["--explore"] },
    (made) => ({ browser, database, folder, server } = made));

  async function page(t, hash = "") {
    const tab = await browser.open(server.url + hash);
    t.after(() => tab.close());
    await tab.until(() => !document.getElementById("explore").hidden && document.body.dataset.state !== "connecting");
    return tab;
  }

  const shows = (expected) => [...document.querySelectorAll("#records .record:has([role=cell])")]
    .map((row) => [...row.children].map((cell) => cell.textContent).join(" ")).join(", ") === expected
    && document.body.dataset.state === "live";
  const type = async (tab, sql) => {
    await tab.until(() => document.getElementById("sql"));
    await tab.run((sql) => {
      document.getElementById("sql").value = sql;
      document.getElementById("explorer").requestSubmit();
    }, sql);
  };
  const mistake = () => document.getElementById("mistake")?.textContent;

  test("shows any SELECT live, how it is tracked, and what commits cost", async (t) => {
    const tab = await page(t);
    await tab.click("#explore");
    await tab.until(() => document.activeElement.id === "sql");
    assert.equal(await tab.run(() => document.getElementById("explore").ariaCurrent), "page");
    // Control and Enter, which WebDriver has as letters.
    await tab.press("#sql", "SELECT team, count(*) AS n FROM player GROUP BY team\uE009\uE007");
    await tab.until(shows, "Blue 3, Green 1, Red 2");
    assert.equal(await tab.run(() => document.getElementById("title").textContent), "Explore");
    await tab.until(() => /Users\s+1, of 1/.test(document.getElementById("details").innerText));
    const about = await tab.run(() => document.getElementById("details").innerText);
    for (const part of [/Tracking\s+incremental: .*CREATE INDEX/, /A commit\s+to player costs a search for each changed row/, /SCAN/,
      /queries:\s+player:\s+sql: \|\s+SELECT team/]) assert.match(about, part);
    database.run("UPDATE player SET team = 'Red' WHERE id = 4");
    await tab.until(shows, "Blue 3, Red 3");
    database.run("UPDATE player SET team = 'Green' WHERE id = 4");
    await tab.until(shows, "Blue 3, Green 1, Red 2");
  });

  test("says what is wrong below the text, and marks it there", async (t) => {
    const tab = await page(t, "#explore%3A");
    await type(tab, "SELECT name,\n  scor FROM player");
    await tab.until(`() => /^2:3: no such column: scor; /.test((${mistake})())`);
    const marked = await tab.run(() => {
      const text = document.activeElement;
      return [text.id, text.ariaInvalid, text.value.slice(text.selectionStart, text.selectionEnd), text.getAttribute("aria-describedby")];
    });
    assert.deepEqual(marked, ["sql", "true", "scor", "mistake"]);
    assert.equal(await tab.run(() => document.getElementById("problem").hidden), true);
    await type(tab, "SELECT score FROM player WHERE id = 1");
    await tab.until(shows, "10");
    assert.deepEqual(await tab.run(() => [document.getElementById("mistake").hidden, document.getElementById("sql").ariaInvalid]), [true, null]);
    await tab.run(() => history.back());
    await tab.until(`() => /no such column/.test((${mistake})())`);
    assert.match(await tab.run(() => document.getElementById("sql").value), /scor FROM/);
  });

  test("copies what has become of it as configuration", { skip: noDevTools }, async (t) => {
    const tab = await page(t, addressOfExploration("SELECT name FROM player WHERE team = 'Red'"));
    await tab.until(shows, "Eve, Fay");
    await tab.devtools("Browser.grantPermissions", { permissions: ["clipboardReadWrite", "clipboardSanitizedWrite"] });
    await tab.until(() => document.getElementById("copy"));
    await tab.click("#copy");
    await tab.until(() => document.querySelector("#copy ~ [role=status]").textContent === "Copied.");
    const yaml = await tab.run(() => navigator.clipboard.readText());
    assert.equal(yaml, "queries:\n  player:\n    sql: |\n      SELECT name FROM player WHERE team = 'Red'\n");
    const file = folder.file("copied.yaml", yaml);
    assert.match(execFileSync(program, ["check", database.path, "--config", file], { encoding: "utf8" }), /2 records/);
  });

  test("an address shows it to others, and again after a restart of the server, asked for by one alone", async (t) => {
    const tab = await page(t, "#players");
    await tab.run(() => {
      const { addEventListener, removeEventListener } = EventTarget.prototype;
      globalThis.listeners = 0;
      Object.assign(EventTarget.prototype, {
        addEventListener(type, ...rest) {
          if (type === "state") ++globalThis.listeners;
          return addEventListener.call(this, type, ...rest);
        },
        removeEventListener(type, ...rest) {
          if (type === "state") --globalThis.listeners;
          return removeEventListener.call(this, type, ...rest);
        },
      });
    });
    await tab.run((hash) => { location.hash = hash; }, addressOfExploration("SELECT name FROM player WHERE score > 40 ORDER BY id"));
    await tab.until(shows, "Eve, Fay");
    const listeners = await tab.run(() => globalThis.listeners);
    await server.stop();
    await server.start();
    database.run("UPDATE player SET name = 'Eva' WHERE id = 5");
    await tab.until(shows, "Eva, Fay");
    assert.equal(await tab.run(() => globalThis.listeners), listeners);
    database.run("UPDATE player SET name = 'Eve' WHERE id = 5");
    await tab.until(shows, "Eve, Fay");
  });

  test("goes on from the SQL of a query, and back", async (t) => {
    const tab = await page(t, "#players");
    await tab.until(() => document.querySelectorAll("#records .record").length === 7);
    await tab.run(() => document.querySelector("#about summary").click());
    await tab.until(() => [...document.querySelectorAll("#details a")].find((link) => link.textContent === "Explore this SELECT"));
    await tab.run(() => document.querySelector("#details a[href^='#explore']").click());
    await tab.until(() => /FROM/.test(document.getElementById("sql")?.value) && document.querySelectorAll("#records .record").length === 7);
    await tab.run(() => history.back());
    await tab.until(() => document.getElementById("explorer").hidden && document.querySelectorAll("#records .section").length === 3);
    assert.equal(await tab.run(() => document.getElementById("title").textContent), "Players by team");
  });

  test("is no tab where the server does not explore", async (t) => {
    const plain = await new Server([database.path]).start();
    t.after(() => plain.stop());
    const tab = await browser.open(`${plain.url}${addressOfExploration("SELECT 1")}`);
    t.after(() => tab.close());
    await tab.until(() => document.querySelectorAll("#queries a").length > 0);
    await tab.until(() => /Nobody explores here/.test(document.getElementById("problem").textContent));
    assert.equal(await tab.run(() => document.getElementById("explore").hidden), true);
  });

  test("is for operators, and nothing of it is left to see when they go", async (t) => {
    const digest = createHash("sha256").update("root").digest("hex");
    const secret = new Database(folder.file("secret.sqlite"), `
      CREATE TABLE session (token TEXT PRIMARY KEY, role TEXT);
      INSERT INTO session VALUES ('${digest}', 'admin');
      CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT, photo BLOB);
      INSERT INTO pet VALUES (1, 'Rex', x'${png}');`);
    const closed = await new Server(["--explore", "--config", folder.file("secret.yaml", `
database: ${secret.path}
callers:
  opaque: true
  claims: SELECT role FROM session WHERE token = :token
  operators: {role: admin}
queries: {pets: {table: pet, columns: {photo: {blob: image/png}}}}
`)]).start();
    t.after(() => closed.stop());
    const tab = await browser.open(closed.url + addressOfExploration("SELECT id, name FROM pet"));
    t.after(() => tab.close());
    await tab.until(() => document.querySelector("#signIn input") && /Only operators/.test(document.getElementById("problem").textContent));
    await tab.press("#signIn input", "root\uE007");
    await tab.until(shows, "1 Rex");
    await tab.click("#queries a");
    await tab.until(() => document.querySelector("#records img")?.naturalWidth === 1);
    assert.match(await tab.run(() => document.querySelector("#records img").src), /^blob:/);
    secret.run("UPDATE pet SET name = 'Max'");
    await tab.until(() => /"Max"/.test(document.getElementById("log").textContent));
    await tab.click("#records .record:has([role=cell])");
    await tab.until(() => /"Rex" → "Max"/.test(document.querySelector("dialog")?.innerText));
    secret.run("DELETE FROM session");
    await tab.until(() => document.body.dataset.state === "signedOut" && !document.querySelector("dialog"));
    assert.doesNotMatch(await tab.run(() => document.documentElement.innerHTML), /Rex|Max/);
    secret.run(`INSERT INTO session VALUES ('${digest}', 'admin')`);
    await tab.press("#signIn input", "root\uE007");
    await tab.until(() => document.querySelector("#records [role=cell]:nth-child(2)")?.textContent === "Max");
    await tab.click("#records .record:has([role=cell])");
    assert.match(await tab.until(() => document.querySelector("dialog")?.innerText), /Nothing has happened/);
  });

  test("sends nothing but what the page's policy lets it", async () => {
    await eventually(async () => (await browser.console()).every(({ message }) => !/Content Security/.test(message)), "no refusal");
  });
});
