// Takes the pictures of the README, beside this file: node Scripts/screenshots/take.mjs
// Needs a built server, sqlite3, and Debian's chromium, chromium-driver and pngquant.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { addressOfExploration } from "../../Public/page/explore.js";
import { Database, Folder, Server } from "../../Tests/BrowserTests/support/server.mjs";
import { Browser } from "../../Tests/BrowserTests/support/webdriver.mjs";

const people = `
  CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
  INSERT INTO person
    WITH RECURSIVE number (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM number WHERE id < 1000000),
      part (a, b, c) AS (VALUES ('["Bauer","Costa","Dubois","Eriksen","Fischer","Garcia","Haas","Ito","Jansen","Kowalski","Lind","Moreau","Novak","Okafor","Pereira","Quinn","Rossi","Sato","Tanaka","Ueda","Varga","Weber","Xu","Yilmaz","Zajac","Adeyemi"]',
        '["Ada","Bruno","Chloe","Dina","Emil","Fay","Grace","Hugo","Ines","Jakub","Kamau","Louis","Mei","Noor","Otto","Pia"]',
        '["Berlin","Lagos","Lyon","Nairobi","Osaka","Porto","Oslo","Prague"]'))
    SELECT id, (a ->> (id % 26)) || ', ' || (b ->> (id * 7 % 16)) || ' ' || char(65 + id % 25) || '.', c ->> (id % 8)
    FROM number, part;
  CREATE INDEX personByName ON person (name);`;

const wide = { width: 1280, height: 800, deviceScaleFactor: 1, mobile: false };
const phone = { width: 390, height: 780, deviceScaleFactor: 1, mobile: true };

const pictures = [
  { name: "page", from: "demo", path: "#players", size: wide, scheme: "light", wait: 9000 },
  { name: "page-dark", from: "demo", path: "#players", size: wide, scheme: "dark", wait: 6000, act: () => document.querySelector("#about summary").click() },
  { name: "phone", from: "demo", path: "#scorers", size: phone, scheme: "light", wait: 3000 },
  { name: "explore", from: "demo", path: addressOfExploration(`SELECT player.name, player.score, team.city
FROM player JOIN team ON team.name = player.team
WHERE player.score > 20
ORDER BY player.score DESC, player.id`), size: wide, scheme: "light", wait: 9000 },
  { name: "million", from: "million", path: "", size: wide, scheme: "light", wait: 1500,
    act: () => document.querySelectorAll("#index button")[12].click() },
];

const folder = new Folder();
const database = new Database(folder.file("people.sqlite"), people);
const servers = {
  demo: new Server(["--explore"]),
  million: new Server(["--config", folder.file("people.yaml", `
database: ${database.path}
queries:
  people: {title: People, table: person, order: [name], section: "substr(name, 1, 1)"}
`)]),
};
const browser = await Browser.start();
try {
  for (const server of Object.values(servers)) await server.start();
  for (const { name, from, path, size, scheme, wait, act } of pictures) {
    const tab = await browser.open("about:blank");
    await tab.devtools("Emulation.setDeviceMetricsOverride", size);
    await tab.devtools("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    await tab.go(servers[from].url + path);
    await tab.until(() => document.querySelectorAll("#records .record [role=cell]").length > 20);
    if (act) await tab.run(act);
    // The demo plays: something should have happened.
    await new Promise((resolve) => setTimeout(resolve, wait));
    const { data } = await tab.devtools("Page.captureScreenshot", { format: "png" });
    const small = execFileSync("pngquant", ["--speed", "1", "64", "-"], { input: Buffer.from(data, "base64") });
    writeFileSync(new URL(`${name}.png`, import.meta.url), small);
    await tab.close();
  }
} finally {
  await browser.stop();
  for (const server of Object.values(servers)) await server.stop();
  folder.remove();
}
