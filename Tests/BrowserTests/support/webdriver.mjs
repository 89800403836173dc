// A WebDriver client of a few calls (https://www.w3.org/TR/webdriver2/), for Chromium's driver.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { createInterface } from "node:readline";

/** The path of a program on PATH, or null. */
export function programNamed(name) {
  for (const folder of [...process.env.PATH.split(":"), "/usr/sbin", "/sbin"]) {
    try {
      accessSync(`${folder}/${name}`, constants.X_OK);
      return `${folder}/${name}`;
    } catch { /* the next folder */ }
  }
  return null;
}

/** Why there can be no browser here; false where there can. */
export const noBrowser =
  !programNamed("chromedriver") ? "chromedriver is not installed (Debian: chromium-driver)"
  : !programNamed("chromium") ? "chromium is not installed (Debian: chromium)" : false;

const elementKey = "element-6066-11e4-a52e-4f735466cecf";

/** One tab of a browser. */
export class Tab {
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
    const script = `return (${body})(...arguments)`;
    return this.#call("POST", "/execute/sync", { script, args });
  }
  /** Runs it again until what it gives is true, and gives that. */
  async until(body, ...args) {
    const end = Date.now() + 15_000;
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
  async press(selector, text) {
    const value = selector;
    const found = await this.#call("POST", "/element", { using: "css selector", value });
    return this.#call("POST", `/element/${found[elementKey]}/value`, { text });
  }
  async click(selector) {
    const value = selector;
    const found = await this.#call("POST", "/element", { using: "css selector", value });
    return this.#call("POST", `/element/${found[elementKey]}/click`, {});
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
  #base;
  #current;

  static async start({ width = 1280, height = 860 } = {}) {
    const browser = new Browser();
    browser.#driver = spawn(programNamed("chromedriver"), ["--port=0"], { stdio: ["ignore", "pipe", "ignore"] });
    const port = await portOf(browser.#driver);
    const { sessionId } = await call(`http://127.0.0.1:${port}`, "POST", "/session", {
      capabilities: { alwaysMatch: {
        browserName: "chrome",
        "goog:loggingPrefs": { browser: "ALL" },
        "goog:chromeOptions": {
          binary: programNamed("chromium"),
          args: ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--ignore-certificate-errors",
            "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
            `--window-size=${width},${height}`],
        },
      } },
    });
    browser.#base = `http://127.0.0.1:${port}/session/${sessionId}`;
    browser.first = new Tab(browser, await browser.call("GET", "/window"));
    browser.#current = browser.first.handle;
    return browser;
  }

  call(method, path, body) { return call(this.#base, method, path, body); }

  async select(handle) {
    if (this.#current === handle) return;
    await this.call("POST", "/window", { handle });
    this.#current = handle;
  }

  async open(url) {
    const { handle } = await this.call("POST", "/window/new", { type: "tab" });
    const tab = new Tab(this, handle);
    await tab.go(url);
    return tab;
  }

  /** What pages said at the console since this was last asked. */
  console() { return this.call("POST", "/se/log", { type: "browser" }); }

  async stop() {
    await this.call("DELETE", "").catch(() => {});
    this.#driver.kill();
    if (this.#driver.exitCode === null) await once(this.#driver, "exit");
  }
}

async function portOf(driver) {
  for await (const line of createInterface({ input: driver.stdout })) {
    const [, port] = /started successfully on port (\d+)/.exec(line) ?? [];
    if (port) {
      driver.stdout.resume();
      return port;
    }
  }
  throw new Error("chromedriver ended before it was ready");
}

async function call(base, method, path, body) {
  const response = await fetch(base + path, {
    method, body: body && JSON.stringify(body, undefined),
    headers: body ? { "Content-Type": "application/json" } : {},
  });
  const { value } = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${value.error}: ${value.message}`);
  return value;
}
