// Browsers for tests, by a few calls of WebDriver (https://www.w3.org/TR/webdriver2/).

import { engines, isMissing, programNamed, starting, without } from "./engines.mjs";

export { engines, isMissing, programNamed, without };

/** Which browser the tests have; what they ask of the DevTools protocol only Chromium can. */
const chosen = process.env.DIDCHANGE_BROWSER ?? "chromium";

/** Why there can be no browser here; false where there can. */
export const noBrowser = isMissing(chosen);

/** Why the DevTools protocol cannot be had; false where it can. */
export const noDevTools = noBrowser || (chosen !== "chromium" && "only Chromium has the DevTools protocol");

const elementKey = "element-6066-11e4-a52e-4f735466cecf";

/** One tab of a browser. */
export class Tab {
  /** How long it waits for what must become true, in milliseconds: so long that a busy machine is not taken for a fault. */
  patience = 60_000;

  constructor(browser, handle) {
    this.browser = browser;
    this.handle = handle;
  }

  async #call(...request) {
    await this.browser.select(this.handle);
    return this.browser.call(...request);
  }

  go(url) { return this.#call("POST", "/url", { url }); }
  /** Runs a function in the page; its arguments and result travel as JSON. It may be async. */
  run(body, ...args) {
    const script = this.browser.script(body);
    return this.#call("POST", "/execute/sync", { script, args });
  }
  /** Runs it again until what it gives is true, and gives that. */
  async until(body, ...args) {
    const end = Date.now() + this.patience;
    for (;;) {
      const value = await this.run(body, ...args).catch((error) => {
        if (Date.now() > end) throw error;
      });
      if (value) return value;
      if (Date.now() > end) {
        const seen = await this.run(() => document.body.innerText.slice(0, 2000));
        throw new Error(`never true: ${body} of ${JSON.stringify(args)}; the page shows: ${seen}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  press(selector, text) { return this.#onElement(selector, "value", { text }); }
  click(selector) { return this.#onElement(selector, "click", {}); }
  /** Also where the page draws it anew just then; WebKit does not bring it wholly into view. */
  async #onElement(value, what, body) {
    const end = Date.now() + this.patience;
    for (;;) {
      try {
        const found = await this.#call("POST", "/element", { using: "css selector", value });
        return await this.#call("POST", `/element/${found[elementKey]}/${what}`, body);
      } catch (error) {
        if (Date.now() > end || !/no such element|stale element|not interactable/.test(error.message)) throw error;
        await this.run((selector) => document.querySelector(selector)?.scrollIntoView({ block: "nearest" }), value);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }
  /** A key that goes to what has the focus, by its code in WebDriver. */
  type(value) { return this.#act({ type: "key", id: "keys", actions: ["keyDown", "keyUp"].map((type) => ({ type, value })) }); }
  /** Presses the mouse at a place of the window, and lets it go elsewhere. */
  drag([x, y], [toX, toY]) {
    return this.#act({ type: "pointer", id: "mouse", actions: [{ type: "pointerMove", x, y, duration: 0 }, { type: "pointerDown", button: 0 },
      { type: "pointerMove", x: toX, y: toY, duration: 50 }, { type: "pointerUp", button: 0 }] });
  }
  #act(...actions) { return this.#call("POST", "/actions", { actions }); }
  /** A cookie for an address; WebDriver's own command wants a page of its origin to be open, which may need the cookie. */
  async setCookie(name, value, url) {
    if (this.browser.engine === "chromium") return this.devtools("Network.setCookie", { name, value, url });
    // Another page than the one that is wanted, which is loaded then.
    await this.go(`${url}?cookie`);
    return this.#call("POST", "/cookie", { cookie: { name, value } });
  }
  /** A command of the DevTools protocol. */
  devtools(cmd, params = {}) { return this.#call("POST", "/goog/cdp/execute", { cmd, params }); }
  async screenshot() { return Buffer.from(await this.#call("GET", "/screenshot"), "base64"); }
  async close() {
    await this.#call("DELETE", "/window");
    await this.browser.select(this.browser.first.handle);
  }
}

export class Browser {
  #driver;
  #current;

  static async start({ width = 1280, height = 860, engine = chosen } = {}) {
    const browser = new Browser();
    browser.engine = engine;
    browser.#driver = await starting[engine]({ width, height });
    browser.first = new Tab(browser, await browser.call("GET", "/window"));
    browser.#current = browser.first.handle;
    return browser;
  }

  call(method, path, body) { return this.#driver.call(method, path, body); }

  /** A script that gives what a function gives in the page. */
  script(body) { return this.#driver.runs?.(String(body)) ?? `return (${body})(...arguments)`; }

  async select(handle) {
    if (this.#current === handle) return;
    await this.call("POST", "/window", { handle });
    this.#current = handle;
  }

  async open(url) {
    const { handle } = await this.call("POST", "/window/new", { type: this.#driver.opens ?? "tab" });
    const tab = new Tab(this, handle);
    await tab.go(url);
    return tab;
  }

  /** Whether it is told what pages say at the console: Chromium's driver alone tells. */
  get hearsConsole() { return this.#driver.hearsConsole ?? false; }

  /** What pages said there since this was last asked. */
  async console() { return this.hearsConsole ? this.call("POST", "/se/log", { type: "browser" }) : []; }

  stop() { return this.#driver.stop(); }
}
