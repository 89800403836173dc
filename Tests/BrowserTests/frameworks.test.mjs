// The hook in real React, the composable in real Vue, and the store that they have in common with Svelte.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { copyReact, noReact, reactHead, reactModule } from "./support/react.mjs";
import { eventually, metric, noServer, teams, teamsConfiguration } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";
import { copyVue, noVue, vueHead } from "./support/vue.mjs";
import { noBrowser } from "./support/webdriver.mjs";

const page = (head, script) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Frameworks</title>
<link rel="icon" href="favicon.svg">${head}<body><div id="root"></div><script type="module">${script}</script></body></html>`;

/** A component that notes what each drawing showed; `ask` draws it with other arguments. */
const reactPage = page(reactHead, `
  import { useFetchedRecords } from "./didchange/react.js";
  const { createElement, StrictMode } = React;
  globalThis.drawn = [];
  globalThis.asked = { url: "v1/queries/ranking?most=50", window: { limit: 5 } };
  function Ranking({ url, parameters, window, order, big }) {
    const { records, state, error, controller } =
      useFetchedRecords(url, big ? { ...parameters, most: BigInt(big) } : parameters, window, { order });
    Object.assign(globalThis, { controller, error });
    drawn.push([JSON.stringify({ most: parameters?.most, order, limit: window?.limit }), state + ": " + records.map(({ name }) => name).join(" ")]);
    return createElement("ul", null, records.map(({ id, name }) => createElement("li", { key: id }, name)));
  }
  const root = ReactDOM.createRoot(document.getElementById("root"));
  globalThis.ask = (others) => {
    Object.assign(asked, others);
    const element = createElement(Ranking, asked);
    root.render(asked.isStrict ? createElement(StrictMode, null, element) : element);
  };
  globalThis.unmount = () => root.unmount();
  ask({});`);

/** A component that is there or not, of what `asked` says. */
const vuePage = page(vueHead, `
  import { createApp, h, reactive } from "vue";
  import { useFetchedRecords } from "./didchange/vue.js";
  globalThis.asked = reactive({ isThere: true, most: 50, order: "name" });
  const Ranking = {
    setup() {
      const ranking = useFetchedRecords("v1/queries/ranking?limit=5", () => ({ parameters: { most: asked.most }, order: asked.order }));
      globalThis.drawn = [];
      return () => {
        const { records, state, error, controller } = ranking.value;
        Object.assign(globalThis, { controller: controller ?? globalThis.controller, error });
        drawn.push([null, state + ": " + records.map(({ name }) => name).join(" ")]);
        return h("ul", records.map(({ id, name }) => h("li", { key: id }, name)));
      };
    },
  };
  createApp({ render: () => asked.isThere ? h(Ranking) : "gone" }).mount("#root");`);

const storePage = page("", `
  import { fetchedRecords } from "./didchange/svelte.js";
  globalThis.store = fetchedRecords("v1/queries/team?team=Red");
  globalThis.values = [];
  globalThis.texts = () => values.map(({ state, records, error }) => [state, ...records.map(({ name }) => name), error?.status ?? ""].join(" ").trim());
  globalThis.stop = store.subscribe((value) => values.push(value));`);

describe("in frameworks", { skip: noBrowser || noServer, timeout: 600_000 }, () => {
  let browser, database, server;

  stage({
    browser: true, sql: teams,
    configuration: (path) => `${teamsConfiguration(path)}
  ranking:
    table: player
    where: score <= :most
    orders: {name: [name], best: [score DESC]}
    parameters: {most: {type: integer, default: 1000}}
`,
    pages: { "react-module.js": reactModule, "react.html": reactPage, "store.html": storePage, "vue.html": vuePage },
    files(folder) {
      if (!noReact) copyReact(folder);
      if (!noVue) copyVue(folder);
    },
  }, (made) => ({ browser, database, server } = made));

  async function open(t, name) {
    const tab = await browser.open(server.url + name);
    t.after(async () => {
      assert.deepEqual((await browser.console()).filter(({ level }) => level === "SEVERE")
        .map(({ message }) => message).filter((message) => !/status of 400/.test(message)), []);
      await tab.close();
    });
    return tab;
  }

  const shows = (expected) => drawn.at(-1)?.[1] === expected;

  test("React: rows of other parameters are stale until the difference is here", { skip: noReact }, async (t) => {
    const tab = await open(t, "react.html");
    await tab.until(shows, "live: Ada Barbara Cyd Dora Eve");
    await tab.run(() => {
      globalThis.first = controller;
      globalThis.row = document.querySelector("li");
    });
    for (const [asked, expected, last] of [
      [{ parameters: { most: 40 } }, "live: Ada Barbara Cyd Dora", "Ada Barbara Cyd Dora Eve"],
      [{ order: "best" }, "live: Dora Cyd Barbara Ada", "Ada Barbara Cyd Dora"],
      [{ parameters: {}, big: "30" }, "live: Cyd Barbara Ada", "Dora Cyd Barbara Ada"],
    ]) {
      await tab.run((asked) => {
        drawn.length = 0;
        ask(asked);
      }, asked);
      await tab.until(shows, expected);
      const texts = await tab.run(() => drawn.map(([, text]) => text));
      assert.equal(texts[0], `stale: ${last}`, "the first drawing of other parameters knows that its rows are not theirs");
      for (const text of texts) assert.ok([`stale: ${last}`, expected, expected.replace("live", "stale")].includes(text), text);
    }
    assert.ok(await tab.run(() => controller === first && row.isConnected));
    database.run("UPDATE player SET name = 'Abe' WHERE id = 1");
    await tab.until(shows, "live: Cyd Barbara Abe");
    database.run("UPDATE player SET name = 'Ada' WHERE id = 1");
    await tab.until(shows, "live: Cyd Barbara Ada");
  });

  test("React: a refusal is the error, which other parameters mend; a component that goes leaves nothing", { skip: noReact }, async (t) => {
    const tab = await open(t, "react.html");
    await tab.until(shows, "live: Ada Barbara Cyd Dora Eve");
    await tab.run(() => ask({ parameters: { most: "many" } }));
    await tab.until(() => error?.status === 400 && /integer/.test(error.detail) && /^closed/.test(drawn.at(-1)[1]));
    await tab.run(() => ask({ parameters: { most: 20 } }));
    await tab.until(shows, "live: Ada Barbara");
    assert.equal(await tab.run(() => error), null);
    await tab.run(() => ask({ isStrict: true }));
    await tab.until(shows, "live: Ada Barbara");
    await tab.run(() => unmount());
    await tab.until(() => controller.state === "closed");
    await eventually(async () => (await metric(server, "streams")) === 0, "no stream");
  });

  test("Vue: what the function reads may change, and a component that goes leaves nothing", { skip: noVue }, async (t) => {
    const tab = await open(t, "vue.html");
    await tab.until(shows, "live: Ada Barbara Cyd Dora Eve");
    await tab.run(() => {
      globalThis.first = controller;
      globalThis.row = document.querySelector("li");
    });
    for (const [changes, expected, last] of [
      [{ most: 40 }, "live: Ada Barbara Cyd Dora", "Ada Barbara Cyd Dora Eve"],
      [{ order: "best" }, "live: Dora Cyd Barbara Ada", "Ada Barbara Cyd Dora"],
    ]) {
      await tab.run((changes) => {
        drawn.length = 0;
        Object.assign(asked, changes);
      }, changes);
      await tab.until(shows, expected);
      assert.equal(await tab.run(() => drawn[0][1]), `stale: ${last}`);
    }
    assert.ok(await tab.run(() => controller === first && row.isConnected));
    database.run("UPDATE player SET name = 'Abe' WHERE id = 1");
    await tab.until(shows, "live: Dora Cyd Barbara Abe");
    database.run("UPDATE player SET name = 'Ada' WHERE id = 1");
    await tab.run(() => { asked.most = "many"; });
    await tab.until(() => error?.status === 400 && /integer/.test(error.detail));
    await tab.run(() => { asked.most = 20; });
    await tab.until(shows, "live: Barbara Ada");
    await tab.run(() => { asked.isThere = false; });
    await tab.until(() => controller.state === "closed");
    await eventually(async () => (await metric(server, "streams")) === 0, "no stream");
  });

  test("a store is Svelte's: it calls back at once, and its controller lives as long as anybody listens", async (t) => {
    const tab = await open(t, "store.html");
    await tab.until(() => texts().at(-1) === "live Eve Fay");
    assert.equal(await tab.run(() => texts()[0]), "connecting");
    await tab.run(() => {
      values.length = 0;
      store.ask({ parameters: { team: "Green" } });
    });
    await tab.until(() => texts().at(-1) === "live Dora");
    assert.equal(await tab.run(() => texts()[0]), "stale Eve Fay");
    assert.ok(await tab.run(() => {
      let seen;
      const { controller } = store.value;
      store.subscribe((value) => (seen = value))();
      const isOne = seen === values.at(-1) && controller.state === "live";
      stop();
      return isOne && controller.state === "closed" && store.value.records.length === 0;
    }));
  });
});
