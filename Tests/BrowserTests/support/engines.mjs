// The browsers that the tests know, each behind a driver that takes WebDriver's commands
// (https://www.w3.org/TR/webdriver2/). A driver is `call(method, path, body)`, `stop()`, and perhaps
// `hearsConsole`, what it `opens` in place of a tab, and how it `runs` a function.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { arch, tmpdir } from "node:os";
import { join } from "node:path";
import { Marionette } from "./marionette.mjs";
import { freePorts } from "./server.mjs";

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

/** Debian's packages whose names are not those of their programs. */
const packages = {
  Xvfb: "xvfb", WebKitWebDriver: "webkit2gtk-driver", chromedriver: "chromium-driver",
  go: "golang-go golang-github-mattn-go-sqlite3-dev", nginx: "nginx-light", php: "php-cli", promtool: "prometheus",
  rails: "ruby-rails ruby-sqlite3 puma", sqldiff: "sqlite3-tools", tsc: "node-typescript",
};

/** Why none of what needs these programs can be done here, and what helps; false where all are there. */
export function without(...programs) {
  const missing = programs.find((name) => !programNamed(name));
  return missing ? `${missing} is not installed (Debian: ${packages[missing] ?? missing})` : false;
}

/** Debian's WebKitGTK has a browser for its tests, which is on nobody's path. */
const miniBrowser = `/usr/lib/${{ x64: "x86_64", arm64: "aarch64" }[arch()]}-linux-gnu/webkit2gtk-4.1/MiniBrowser`;

/** The programs that are needed. */
const needs = { chromium: ["chromedriver", "chromium"], firefox: ["firefox-esr"], webkit: ["WebKitWebDriver", "Xvfb"] };

export const engines = Object.keys(needs);

/** Why there can be no such browser here; false where there can. */
export function isMissing(engine) {
  if (!needs[engine]) return `there is no engine “${engine}”: say ${engines.join(", ")}`;
  const missing = without(...needs[engine]);
  if (missing) return missing;
  return engine === "webkit" && !existsSync(miniBrowser) ? `${miniBrowser} is not there (Debian: libwebkit2gtk-4.1-0)` : false;
}

export const starting = { chromium, firefox, webkit };

/**
 * What does not start is begun anew: a browser on a busy machine, or its driver, which takes a port that is free under
 * IPv4, and ends where somebody has the same under IPv6.
 */
async function chromium(size, attempts = 3) {
  try {
    return await startedChromium(size);
  } catch (error) {
    if (attempts === 1) throw error;
    return chromium(size, attempts - 1);
  }
}

async function startedChromium({ width, height }) {
  const driver = spawn(programNamed("chromedriver"), ["--port=0"], { stdio: ["ignore", "pipe", "ignore"] });
  const [, port] = await said(driver.stdout, /started successfully on port (\d+)/, "chromedriver");
  const overChromedriver = await overHTTP(`http://127.0.0.1:${port}`, [driver], {
    browserName: "chrome",
    "goog:loggingPrefs": { browser: "ALL" },
    "goog:chromeOptions": {
      binary: programNamed("chromium"),
      args: ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--ignore-certificate-errors",
        "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
        `--window-size=${width},${height}`],
    },
  });
  return { ...overChromedriver, hearsConsole: true };
}

/** It has a screen of its own: there is no WebKit without one. */
async function webkit({ width, height }) {
  const screen = spawn(programNamed("Xvfb"), ["-displayfd", "3", "-screen", "0", `${width}x${height}x24`],
    { stdio: ["ignore", "ignore", "ignore", "pipe"] });
  const [, number] = await said(screen.stdio[3], /(\d+)\n/, "Xvfb");
  const [port] = await freePorts(1);
  const driver = spawn(programNamed("WebKitWebDriver"), [`--port=${port}`], { stdio: "ignore",
    env: { ...process.env, DISPLAY: `:${number}`, GDK_BACKEND: "x11", WEBKIT_DISABLE_COMPOSITING_MODE: "1",
      // Its own sandbox needs namespaces, which containers seldom have.
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1" } });
  const base = `http://127.0.0.1:${port}`;
  await orEnd([screen], async () => {
    while (!await fetch(`${base}/status`).then(({ ok }) => ok, () => false)) {
      if (driver.exitCode !== null) throw new Error("WebKitWebDriver ended before it was ready");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  const overWebKitDriver = await overHTTP(base, [driver, screen], {
    acceptInsecureCerts: true,
    "webkitgtk:browserOptions": { binary: miniBrowser, args: ["--automation", `--geometry=${width}x${height}`] },
  });
  // A tab is hidden, and draws nothing: the driver brings none to the front.
  return { ...overWebKitDriver, opens: "window" };
}

async function firefox({ width, height }) {
  const profile = mkdtempSync(join(tmpdir(), "didchange-firefox-"));
  writeFileSync(join(profile, "user.js"), Object.entries({
    "marionette.port": 0, "app.update.disabledForTesting": true, "browser.shell.checkDefaultBrowser": false,
    "datareporting.policy.dataSubmissionEnabled": false, "network.captive-portal-service.enabled": false,
    "network.connectivity-service.enabled": false, "services.settings.server": "data:,#remote-settings-dummy/v1",
    "dom.min_background_timeout_value": 4, "dom.timeout.enable_budget_timer_throttling": false,
  }).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(""));
  const program = spawn(programNamed("firefox-esr"), ["--headless", "--marionette", "--no-remote", "--profile", profile,
    "--width", String(width), "--height", String(height)], { stdio: "ignore" });
  const active = join(profile, "MarionetteActivePort");
  let port;
  while (!port) {
    if (program.exitCode !== null) throw new Error("Firefox ended before it was ready");
    await new Promise((resolve) => setTimeout(resolve, 20));
    port = existsSync(active) && Number(readFileSync(active, "utf8"));
  }
  const marionette = await orEnd([program], async () => {
    const marionette = await Marionette.connect(port);
    await marionette.command("WebDriver:NewSession", { acceptInsecureCerts: true });
    return marionette;
  });
  return {
    call: (method, path, body) => marionette.call(method, path, body),
    // It runs scripts beside the page, where what they make global would be theirs alone.
    runs: (body) => `with (window) { return (${body})(...arguments) }`,
    async stop() {
      marionette.command("Marionette:Quit", { flags: ["eForceQuit"] }).catch(() => {});
      await ended(program);
      marionette.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function overHTTP(address, processes, capabilities) {
  const { sessionId } = await orEnd(processes, () =>
    ask(`${address}/session`, "POST", "", { capabilities: { alwaysMatch: capabilities } }, 60_000));
  const base = `${address}/session/${sessionId}`;
  return {
    call: (method, path, body) => ask(base, method, path, body),
    async stop() {
      await ask(base, "DELETE", "", undefined, 20_000).catch(() => {});
      for (const one of processes) {
        one.kill();
        await ended(one);
      }
    },
  };
}

/** `patience` in milliseconds: a browser that hangs is named, before the test is that waits for it. */
async function ask(base, method, path, body, patience = 120_000) {
  const response = await fetch(base + path, {
    method, body: body && JSON.stringify(body, undefined),
    headers: body ? { "Content-Type": "application/json" } : {},
    signal: AbortSignal.timeout(patience),
  }).catch((error) => { throw new Error(`${method} ${path || "/"}: the browser's driver says nothing`, { cause: error }); });
  const { value } = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${value.error}: ${value.message}`);
  return value;
}

/** Does what needs these processes, and ends them where it fails: node waits for those it has started. */
async function orEnd(processes, act) {
  try {
    return await act();
  } catch (error) {
    for (const one of processes) one.kill("SIGKILL");
    throw error;
  }
}

async function ended(process) {
  if (process.exitCode === null && process.signalCode === null) await once(process, "exit");
}

/** Waits until a program says that. */
async function said(output, pattern, name) {
  let text = "";
  for await (const piece of output.iterator({ destroyOnReturn: false })) {
    text += piece;
    const match = pattern.exec(text);
    if (!match) continue;
    output.resume();
    return match;
  }
  throw new Error(`${name} ended before it was ready: ${text}`);
}
