// A program that runs beside a test, until the test is over.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { eventually } from "./server.mjs";
import { programNamed } from "./webdriver.mjs";

export class Program {
  #process;
  /** What it wrote lately. */
  log = "";

  /** It is ready when `isReady`, which may throw until then. */
  async start(name, options, isReady, env = {}) {
    this.#process = spawn(programNamed(name), options,
      { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
    for (const output of [this.#process.stdout, this.#process.stderr]) {
      output.on("data", (text) => (this.log = (this.log + text).slice(-20_000)));
    }
    await eventually(async () => {
      if (this.#process.exitCode !== null) throw new Error(`${name} ended: ${this.log}`);
      return Promise.resolve().then(isReady).catch(() => false);
    }, `${name} is ready`);
    return this;
  }

  async stop() {
    if (!this.#process || this.#process.exitCode !== null) return;
    this.#process.kill("SIGKILL");
    await once(this.#process, "exit");
  }
}
