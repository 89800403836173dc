// Examples/Board and Examples/Chat: started as their READMEs say, and used in two tabs.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { stepsOf } from "./support/cookbook.mjs";
import { violationsIn, noAxe } from "./support/axe.mjs";
import { Desk, read } from "./support/readme.mjs";
import { noServer } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";
import { noBrowser, programNamed } from "./support/webdriver.mjs";

const missing = programNamed("python3") ? false : "python3 is not installed";

describe("an example", { skip: noBrowser || noServer || missing, timeout: 600_000 }, () => {
  let browser;
  stage({ browser: true }, (made) => ({ browser } = made));

  /** In two tabs; what it was started by starts it again. */
  async function start(t, name) {
    const text = read(`Examples/${name}/README.md`);
    const [{ command, seen }, { open }, ...others] = stepsOf(text, name);
    assert.deepEqual(others, [{ interrupt: "Ctrl-C" }], "one command starts it");
    const desk = new Desk();
    t.after(() => desk.stop());
    await desk.start({ text });
    desk.copy(`Examples/${name}`);
    const begin = () => desk.run(command, seen);
    await begin();
    const tabs = [];
    for (let count = 0; count < 2; count++) tabs.push(await browser.open(desk.here(open)));
    t.after(async () => {
      for (const tab of tabs) await tab.close();
    });
    return { desk, begin, url: desk.here(open), tabs };
  }

  const isLive = (state) => document.querySelector("output").value === state;

  test("Board", async (t) => {
    const { desk, begin, url, tabs } = await start(t, "Board");
    const [tab, other] = tabs;
    const both = async (expected) => {
      for (const one of tabs) await one.until(shows, expected);
    };
    await both("1 Wake up, 1 Have tea, 2 Feed the cat");
    if (!noAxe) assert.deepEqual(await violationsIn(tab), []);

    await drag(tab, "Have tea", "Wake up");
    await both("1 Have tea, 1 Wake up, 2 Feed the cat");
    await drag(other, "Wake up", 3);
    await both("1 Have tea, 2 Feed the cat, 3 Wake up");
    await tab.press("[name=title]", "Say “hello”\uE007");
    await both("1 Have tea, 1 Say “hello”, 2 Feed the cat, 3 Wake up");
    for (const one of tabs) await one.until(isLive, "live");

    // By the keyboard, which a card that moves keeps.
    await tab.run(() => Object.assign(document.querySelector("li"), { id: "held" }).focus());
    for (const [key, expected] of [
      [down, "1 Say “hello”, 1 Have tea, 2 Feed the cat, 3 Wake up"],
      [right, "1 Say “hello”, 2 Feed the cat, 2 Have tea, 3 Wake up"],
      [up, "1 Say “hello”, 2 Have tea, 2 Feed the cat, 3 Wake up"],
      [left, "1 Say “hello”, 1 Have tea, 2 Feed the cat, 3 Wake up"],
    ]) {
      await tab.press("#held", key);
      await both(expected);
      assert.equal(await tab.run(() => document.activeElement.id), "held");
    }

    // Without the server a move is shown, and taken back.
    await desk.interrupt("SIGKILL");
    for (const one of tabs) await one.until(isLive, "stale");
    assert.equal(await drag(tab, "Wake up", 1), "1");
    await tab.until(shows, "1 Say “hello”, 1 Have tea, 2 Feed the cat, 3 Wake up");
    await begin();
    for (const one of tabs) await one.until(isLive, "live");
    await drag(tab, "Wake up", 1);
    await both("1 Say “hello”, 1 Have tea, 1 Wake up, 2 Feed the cat");

    for (const [path, body, origin, status] of [
      ["move", "card=1&list=4", url, 400], ["add", "title=", url, 400], ["nonesuch", "a=b", url, 404],
      ["add", "title=Spam", "http://evil.example/", 403],
    ]) {
      const answer = await fetch(url + path, { method: "POST", body, headers: { Origin: origin.slice(0, -1) } });
      assert.equal(answer.status, status, path);
    }
    assert.equal((await fetch(`${url}board.sqlite`)).status, 404);
    assert.equal(await desk.interrupt(), 0);
  });

  test("Chat", async (t) => {
    const { desk, begin, url, tabs } = await start(t, "Chat");
    const [tab, other] = tabs;
    const both = async (expected) => {
      for (const one of tabs) await one.until(says, expected);
    };
    await both("Bob: It is. Ada: Is the kettle on?");
    if (!noAxe) assert.deepEqual(await violationsIn(tab), []);
    assert.match(await tab.run(() => document.querySelector("time").dateTime), /^\d{4}-\d\d-\d\dT[\d:]{8}Z$/);
    await tab.press("[name=name]", "Cyd");
    await tab.press("[name=text]", "Lovely & <b>hot</b>\uE007");
    await both("Cyd: Lovely & <b>hot</b> Bob: It is. Ada: Is the kettle on?");
    assert.equal(await tab.run(() => document.querySelector("[name=text]").value), "");

    // A new name is one in all messages.
    await other.run(() => (document.querySelector("[name=name]").value = "Cyndi"));
    await other.press("[name=text]", "Thank you\uE007");
    await both("Cyndi: Thank you Cyndi: Lovely & <b>hot</b> Bob: It is. Ada: Is the kettle on?");

    await tab.click("[href='#cake']");
    await tab.until(says, "Bob: All gone.");
    await tab.click("[href='#tea']");
    await desk.interrupt("SIGKILL");
    for (const one of tabs) await one.until(isLive, "stale");
    await begin();
    for (const one of tabs) await one.until(isLive, "live");
    await other.press("[name=text]", "More?\uE007");
    await both("Cyndi: More? Cyndi: Thank you Cyndi: Lovely & <b>hot</b> Bob: It is. Ada: Is the kettle on?");

    const answer = await fetch(`${url}say`, { method: "POST", body: "room=tea&person=1&name=&text=a", headers: { Origin: url.slice(0, -1) } });
    assert.equal(answer.status, 400);
    assert.equal(await desk.interrupt(), 0);
  });
});

/** Keys, as WebDriver has them. */
const [left, up, right, down] = ["\uE012", "\uE013", "\uE014", "\uE015"];

/** Whether a board shows these cards, each after the number of its list. */
const shows = (expected) => expected === [...document.querySelectorAll("li")]
  .map((node) => `${node.style.gridColumnStart} ${node.textContent}`).join(", ");

/** Whether a chat shows these messages, the newest first. */
const says = (expected) => expected === [...document.querySelectorAll("li")]
  .map((node) => `${node.querySelector("b").textContent}: ${node.querySelector("div").textContent}`).join(" ");

/** Drops a card upon another one, or in a list, in the events that a browser makes of a mouse. @returns where it shows */
function drag(tab, from, to) {
  return tab.run((from, to) => {
    const card = (text) => [...document.querySelectorAll("li")].find(({ textContent }) => textContent === text);
    const list = document.querySelector("ul"), dragged = card(from), target = card(to) ?? list;
    const { left, width, bottom } = list.getBoundingClientRect();
    const dataTransfer = new DataTransfer();
    const sent = (type, node) => node.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer,
      clientX: left + width * (card(to) ? 0.5 : (to - 0.5) / 3), clientY: bottom - 1 }));
    // One that is not cancelled says that nothing may be dropped there.
    if (dragged.draggable && sent("dragstart", dragged) && !sent("dragover", target)) sent("drop", target);
    sent("dragend", dragged);
    return dragged.style.gridColumnStart;
  }, from, to);
}
