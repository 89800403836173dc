// What a long list transfers while it is scrolled, and how often it shows placeholders: the server's own page
// in Chromium, behind a proxy that counts. Run by hand, with a release build:
//
//     DIDCHANGE_PROGRAM=.build/release/didchange node Benchmarks/Scroll/scroll.mjs [rows] [steps] [public]
//
// `public` is the folder of another version of the page, to compare with.

import { once } from "node:events";
import { connect, createServer } from "node:net";
import { Database, Folder, Server } from "../../Tests/BrowserTests/support/server.mjs";
import { Browser } from "../../Tests/BrowserTests/support/webdriver.mjs";

const [rows = 1_000_000, steps = 1000] = process.argv.slice(2).map(Number);
const other = process.argv[4];

const folder = new Folder();
const database = new Database(folder.file("people.sqlite"), `
  CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INTEGER);
  INSERT INTO person
    WITH RECURSIVE number (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM number WHERE id < ${rows})
    SELECT id, char(65 + id % 26) || ' ' || printf('%07d', id), 'Team ' || id % 40, id % 1000 FROM number;
  CREATE INDEX personByName ON person (name);`);
const configuration = folder.file("people.yaml", `
database: ${database.path}
queries:
  people: {table: person, order: [name], section: "substr(name, 1, 1)"}
`);
const server = await new Server(["--config", configuration], other ? { env: { DIDCHANGE_PUBLIC: other } } : {}).start();
let [received, requests] = [0, 0];
const proxy = createServer((client) => {
  const upstream = connect(server.port, "127.0.0.1");
  upstream.on("data", (bytes) => (received += bytes.length));
  client.on("data", (bytes) => { requests += (bytes.toString("latin1").match(/^[A-Z]+ \/[^ ]* HTTP/gm) ?? []).length; });
  client.pipe(upstream).pipe(client);
  for (const socket of [client, upstream]) socket.on("error", () => [client, upstream].forEach((one) => one.destroy()));
}).listen(0, "127.0.0.1");
await once(proxy, "listening");

const browser = await Browser.start();
const tab = browser.first;

/** Scrolls, and waits until no row in sight is a placeholder. @returns how many rows are in sight */
const move = (by) => tab.run(async (by) => {
  const scroller = document.querySelector("#records [role=rowgroup][tabindex]");
  const height = scroller.clientHeight;
  scroller.scrollTop += by === "screen" ? height : (scroller.scrollHeight - height) * by;
  const frame = () => new Promise(requestAnimationFrame);
  await frame();
  for (;;) {
    await frame();
    const view = scroller.getBoundingClientRect();
    const seen = [...scroller.querySelectorAll(".record")].filter((node) => {
      const { top, bottom } = node.getBoundingClientRect();
      return bottom > view.top && top < view.bottom;
    });
    if (seen.length > 5 && seen.every((node) => /\d/.test(node.innerText))) return seen.length;
  }
}, by);

async function open() {
  await tab.go("about:blank");
  await tab.go(`http://127.0.0.1:${proxy.address().port}/`);
  await tab.until(() => document.querySelectorAll("#records .record [role=cell]").length > 20);
  await new Promise((resolve) => setTimeout(resolve, 500));
}

/** Of 120 frames with so many pixels each, those in which a row in sight is a placeholder. */
const fling = (pixels) => tab.run(async (pixels) => {
  const scroller = document.querySelector("#records [role=rowgroup][tabindex]");
  const began = performance.now();
  let gaps = 0;
  for (let frame = 0; frame < 120; frame++) {
    scroller.scrollTop += pixels;
    await new Promise(requestAnimationFrame);
    // The list draws in the same frame, before this.
    await new Promise((resolve) => setTimeout(resolve));
    const view = scroller.getBoundingClientRect();
    const seen = [...scroller.querySelectorAll(".record")].filter((node) => {
      const { top, bottom } = node.getBoundingClientRect();
      return bottom > view.top && top < view.bottom;
    });
    if (seen.length < 5 || !seen.every((node) => /\d/.test(node.innerText))) gaps++;
  }
  return [gaps, (performance.now() - began) / 120];
}, pixels);

async function measure(name, by) {
  await open();
  [received, requests] = [0, 0];
  let shown = 0;
  for (let step = 0; step < steps; step++) shown += await move(by);
  // It comes to rest.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const row = Buffer.byteLength(await (await fetch(`${server.url}v1/queries/people/records?limit=100`)).text()) / 100;
  console.log(`| ${name} | ${(received / steps).toFixed(0)} | ${(shown / steps).toFixed(1)} | ${
    (received / (shown * row)).toFixed(2)} | ${(requests / steps).toFixed(2)} |`);
}

console.log(`${rows} rows, ${steps} steps${other ? `, ${other}` : ""}\n`);
console.log("| | bytes a step | rows in sight | bytes to those of the rows in sight | requests a step |");
console.log("|---|---|---|---|---|");
await measure("over the whole length", 1 / steps);
await measure("a screen each", "screen");
console.log("\n| pixels a frame | frames of 120 with placeholders, in turn | ms a frame |");
console.log("|---|---|---|");
for (const pixels of [300, 900, 1800]) {
  const runs = [];
  for (let run = 0; run < 5; run++) {
    await open();
    runs.push(await fling(pixels));
  }
  console.log(`| ${pixels} | ${runs.map(([gaps]) => gaps).join(", ")} | ${runs.map(([, time]) => time.toFixed(0)).join(", ")} |`);
}
await browser.stop();
proxy.close();
await server.stop();
folder.remove();
process.exit();
