// Reads README.md and the articles, and does what README.md says, as cookbook.mjs does with its pages. But a
// command that goes on has a terminal of its own, and a block without a command is what one of them shows then.
// Ctrl-C ends the first of them.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Kitchen, patternOf } from "./cookbook.mjs";
import { eventually } from "./server.mjs";

export const root = fileURLToPath(new URL("../../../", import.meta.url));
export const read = (file) => readFileSync(join(root, file), "utf8");

/** The articles of a catalog, or of all of them. */
export const articles = ["RecordsAPI", "FetchedRecords", "FetchedRecordsClient"].flatMap((target) =>
  readdirSync(join(root, `Sources/${target}/${target}.docc`), { recursive: true })
    .filter((file) => file.endsWith(".md")).map((file) => `Sources/${target}/${target}.docc/${file}`));
export const texts = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Benchmarks/README.md", "Examples/Board/README.md",
  "Examples/Chat/README.md", ...articles];

const goesOn = /^(Scripts\/run|didchange)( (--|serve|watch)|$)|^curl -sN |^python3 \w+\.py$/;

export class Desk extends Kitchen {
  #terminals = [];

  async start(page) {
    await super.start(page);
    this.writeScript("Scripts/run", `export DIDCHANGE_PUBLIC="$PWD/Public"\nexec didchange "$@"`);
    return this;
  }

  async run(command, seen) {
    if (!goesOn.test(command)) return await super.run(command, seen);
    const terminal = { text: "" };
    terminal.process = spawn("bash", ["-c", `exec ${this.here(command)} 2>&1`], { ...this.surroundings, stdio: ["ignore", "pipe", "ignore"] });
    terminal.process.stdout.setEncoding("utf8").on("data", (text) => (terminal.text += text));
    this.#terminals.push(terminal);
    await this.#appears(seen, [terminal], command);
  }

  /** Waits until one of the terminals shows these lines, one below the other. */
  appears(lines) { return this.#appears(lines, this.#terminals, "all that is above"); }

  async #appears(lines, terminals, what) {
    const pattern = new RegExp(`^${patternOf(lines)}`, "m");
    await eventually(() => terminals.some(({ text }) => pattern.test(this.linesOf(text))), "").catch(() => {
      const seen = terminals.map(({ text }) => this.linesOf(text)).join("\n---\n");
      throw new Error(`after: ${what}\nexpected:\n${lines.join("\n")}\nseen:\n${seen}`);
    });
  }

  /** Ends what runs in the first terminal, all of it. @returns its exit code */
  async interrupt(signal = "SIGINT") {
    const { process: leader } = this.#terminals.shift();
    process.kill(-leader.pid, signal);
    const [status] = await once(leader, "close");
    return status;
  }

  async stop() {
    while (this.#terminals.length > 0) await this.interrupt("SIGKILL").catch(() => {});
    await super.stop();
  }
}

/** The rows of the tables of a text that have these headings, each as the texts of its cells. */
export function rows(text, ...headings) {
  const found = [];
  let isIn = false;
  for (const line of text.split("\n")) {
    const cells = line.startsWith("|") ? line.split("|").slice(1, -1).map((cell) => cell.trim()) : null;
    if (!cells) isIn = false;
    else if (headings.every((heading, index) => cells[index] === heading)) isIn = true;
    else if (isIn && !/^-+$/.test(cells[0])) found.push(cells);
  }
  return found;
}

/** The texts in backticks. */
export const codes = (text) => [...withoutBlocks(text).matchAll(/`([^`]+)`/g)].map(([, code]) => code);
const withoutBlocks = (text) => text.replace(/^```[^]*?^```$/gm, "");

/** The files that a text links to, with "#" and a heading where it names one. */
export function links(file) {
  const text = withoutBlocks(read(file));
  const named = [...text.matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)].map(([, link]) => link);
  const articles = [...text.matchAll(/<doc:([^>]+)>/g)].map(([, name]) => `${name}.md`);
  return [...named, ...articles].map((link) => (link.startsWith("#") ? file + link : join(dirname(file), link)));
}

/** Those links that lead nowhere. */
export const deadLinks = (file) => links(file).filter((link) => {
  const [path, heading] = link.split("#");
  if (path.startsWith("..") || !existsSync(join(root, path))) return true;
  return heading && !headings(read(path)).includes(heading);
});

const headings = (text) => [...text.matchAll(/^#+ (.*)$/gm)]
  .map(([, title]) => title.toLowerCase().replace(/[^\p{L}\p{N} -]/gu, "").replaceAll(" ", "-"));

/** What is named in backticks as a file of this repository and is none. */
export const missingFiles = (file) => codes(read(file))
  .filter((code) => /^(Scripts|Sources|Public|Tests|Benchmarks|\.ci)\/[^\s…*{}]+$/.test(code) && !existsSync(join(root, code)));

/** Options by subcommand, as a text in the manner of a manual's synopsis says. */
export function synopsis(text) {
  const options = new Map();
  let command;
  for (const line of text.split("\n")) {
    const name = /^ {4}didchange \[?(\w+)/.exec(line)?.[1];
    if (name) options.set((command = name), []);
    if (command && /^ {4}/.test(line)) options.get(command).push(...(line.match(/--[a-z-]+/g) ?? []));
    else command = undefined;
  }
  return options;
}
