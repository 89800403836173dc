// A didchange server with a database of its own, and a writer that is another process.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const built = [process.env.DIDCHANGE_PROGRAM, ".build/debug/didchange", ".build/release/didchange"]
  .filter(Boolean).map((path) => (path.startsWith("/") ? path : join(root, path)));
export const program = built.find((path) => existsSync(path));

/** Why no server can be started here; false where one can. */
export const noServer = program ? false : "didchange is not built: swift build --product didchange";

/** What servers serve; node's own tests import from `Public`. */
export const publicFolder = process.env.DIDCHANGE_PUBLIC ?? join(root, "Public");

export class Folder {
  path = mkdtempSync(join(tmpdir(), "didchange-browser-"));
  file(name, text) {
    const path = join(this.path, name);
    if (text !== undefined) writeFileSync(path, text);
    return path;
  }
  remove() { rmSync(this.path, { recursive: true, force: true, maxRetries: 5 }); }
}

export class Database {
  constructor(path, sql = "") {
    this.path = path;
    this.run(`PRAGMA journal_mode = WAL; ${sql}`);
  }
  /** Runs statements in a process of its own. */
  run(sql) {
    return execFileSync("sqlite3", ["-cmd", ".timeout 60000", this.path],
      { input: sql, encoding: "utf8" });
  }
}

/** A server that keeps its port from one life to the next. */
export class Server {
  #process = null;
  /** What it wrote to standard error lately. */
  log = "";

  /** @param {string[]} options those of `didchange serve` */
  constructor(options, { port = 0, env = {} } = {}) {
    this.options = options;
    this.port = port;
    this.env = { ...process.env, DIDCHANGE_PUBLIC: publicFolder, ...env };
  }

  get url() { return `http://127.0.0.1:${this.port}/`; }

  /** @param patience in milliseconds, after which it is ended */
  async start(patience = 120_000) {
    this.#process = spawn(program, ["serve", "--port", String(this.port), ...this.options],
      { env: this.env, stdio: ["ignore", "pipe", "pipe"] });
    this.#process.stderr.on("data", (text) => {
      this.log = (this.log + text).slice(-100_000);
      if (process.env.DIDCHANGE_LOG) process.stderr.write(text);
    });
    const impatient = setTimeout(() => this.send("SIGKILL"), patience);
    try {
      for await (const line of createInterface({ input: this.#process.stdout })) {
        const [, port] = /listening on http:\/\/[^ ]*:(\d+)/.exec(line) ?? [];
        if (!port) continue;
        this.port = Number(port);
        return this;
      }
    } finally {
      clearTimeout(impatient);
    }
    throw new Error(`didchange serve ${this.options.join(" ")} ended before it was ready, or was too slow: ${this.log}`);
  }

  /** SIGSTOP: its connections stay, and it says nothing. */
  send(signal) { this.#process.kill(signal); }

  async stop(signal = "SIGTERM") {
    if (this.#process?.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill(signal);
      await once(this.#process, "exit");
    }
  }
}

/** Ports that nobody has just now. */
export async function freePorts(count) {
  const servers = await Promise.all(Array.from({ length: count }, async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return server;
  }));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}

export async function metric(server, name) {
  const text = await (await fetch(`${server.url}metrics`)).text();
  return Number(new RegExp(`^didchange_${name} (\\S+)$`, "m").exec(text)?.[1]);
}

/** Asks again until it is true, for so long that a busy machine is not taken for a fault. */
export async function eventually(condition, what) {
  const end = Date.now() + 60_000;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export const teams = `
  CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INTEGER);
  INSERT INTO player VALUES (1, 'Ada', 'Blue', 10), (2, 'Barbara', 'Blue', 20), (3, 'Cyd', 'Blue', 30),
    (4, 'Dora', 'Green', 40), (5, 'Eve', 'Red', 50), (6, 'Fay', 'Red', 60);`;

export const teamsConfiguration = (database) => `
database: ${database}
queries:
  players: {title: Players by team, table: player, order: [name], section: team}
  team:
    table: player
    where: team = :team
    order: [name]
    parameters: {team: {type: text, default: Blue}}
`;
