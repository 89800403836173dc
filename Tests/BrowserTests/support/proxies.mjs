// The proxies of Scripts/proxies as they run on Debian: the recipes with other ports and paths.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { programNamed } from "./webdriver.mjs";
import { eventually } from "./server.mjs";

const recipe = (name) => readFileSync(new URL(`../../../Scripts/proxies/${name}`, import.meta.url), "utf8");

/** Replaces each text, which must be there: else the recipe has changed and the test tests nothing. */
function adapted(text, replacements) {
  for (const [from, to] of replacements) {
    if (!text.includes(from)) throw new Error(`the recipe does not hold “${from}”`);
    text = text.replaceAll(from, to);
  }
  return text;
}

/** Longer than a heartbeat's interval, shorter than the test waits. */
export const idleLimit = 20;

const kinds = {
  nginx: {
    write(folder, { port, servers, changes = [] }) {
      mkdirSync(folder.file("nginx"), { recursive: true });
      const site = adapted(recipe("nginx.conf"), [
        ["listen 443", `listen 127.0.0.1:${port}`], ["/etc/ssl", folder.path], ["60s", `${idleLimit}s`],
        ["127.0.0.1:8080", servers[0]], ["127.0.0.1:8081", servers[1]], ...changes,
      ]);
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map((name) => `${name}_temp_path ${folder.file("nginx")}/${name};`).join("\n");
      folder.file("nginx.conf", `
        daemon off; master_process off; pid ${folder.file("nginx/pid")}; error_log ${folder.file("nginx/error.log")};
        events {} http { access_log off; ${temporary}\n${site} }`);
      return ["-p", folder.path, "-e", folder.file("nginx/error.log"), "-c", folder.file("nginx.conf")];
    },
  },
  caddy: {
    write(folder, { port, servers }) {
      const site = adapted(recipe("Caddyfile"), [
        ["\nexample.org {", `\nhttps://127.0.0.1:${port} {`], ["/etc/ssl", folder.path],
        ["127.0.0.1:8080", servers[0]], ["127.0.0.1:8081", servers[1]],
      ]);
      folder.file("Caddyfile", `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`);
      return ["run", "--adapter", "caddyfile", "--config", folder.file("Caddyfile")];
    },
  },
  haproxy: {
    write(folder, { port, servers }) {
      folder.file("haproxy.cfg", adapted(recipe("haproxy.cfg"), [
        ["bind :443", `bind 127.0.0.1:${port}`], ["/etc/ssl", folder.path], ["60s", `${idleLimit}s`],
        ["127.0.0.1:8080", servers[0]], ["127.0.0.1:8081", servers[1]],
      ]));
      return ["-f", folder.file("haproxy.cfg"), "-db"];
    },
  },
};

export const proxyNames = Object.keys(kinds);

/** Why a proxy cannot be run here; false where it can. */
export const noProxy = (name) =>
  [name, "openssl"].map((one) => programNamed(one) ? null : `${one} is not installed`).find(Boolean) ?? false;

export function writeCertificate(folder) {
  const [certificate, key] = [folder.file("didchange.crt"), folder.file("didchange.key")];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate], { stdio: "ignore" });
  writeFileSync(folder.file("didchange.pem"), readFileSync(certificate, "utf8") + readFileSync(key, "utf8"));
}

export class Proxy {
  #process;
  #log = "";

  /** @param {{port: number, servers: string[], changes?: [string, string][]}} settings */
  constructor(name, folder, settings) {
    this.name = name;
    this.port = settings.port;
    this.options = kinds[name].write(folder, settings);
    this.home = folder.path;
  }

  get url() { return `https://127.0.0.1:${this.port}/live/`; }

  async start() {
    this.#process = spawn(programNamed(this.name), this.options, {
      stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, HOME: this.home, XDG_DATA_HOME: this.home },
    });
    for (const output of [this.#process.stdout, this.#process.stderr]) {
      output.on("data", (text) => (this.#log = (this.#log + text).slice(-4000)));
    }
    await eventually(async () => {
      if (this.#process.exitCode !== null) throw new Error(`${this.name} ended: ${this.#log}`);
      return (await this.get("healthz").catch(() => null))?.status === 200;
    }, `${this.name} passes a request on`);
    return this;
  }

  async stop() {
    if (!this.#process || this.#process.exitCode !== null) return;
    this.#process.kill("SIGKILL");
    await once(this.#process, "exit");
  }

  /** A request over HTTP/2; its answer when that is whole. */
  async get(path, headers, localAddress) {
    const stream = new Stream(this.url + path, headers, localAddress);
    try {
      await stream.ended;
      return { status: stream.status, head: stream.head, text: stream.text };
    } finally {
      stream.close();
    }
  }

  stream(path, headers) { return new Stream(this.url + path, headers); }
}

/** A stream over HTTP/2: its text so far, and when each part of it came. */
class Stream {
  text = "";
  arrivals = [];
  status = null;
  isEnded = false;

  constructor(url, headers = {}, localAddress = undefined) {
    const { origin, pathname, search } = new URL(url);
    this.session = connect(origin, { rejectUnauthorized: false, localAddress });
    const request = this.session.request({ ":path": pathname + search, ...headers }, { endStream: true });
    request.setEncoding("utf8");
    request.on("response", (head) => Object.assign(this, { head, status: head[":status"] }));
    request.on("data", (text) => {
      this.text += text;
      this.arrivals.push([performance.now(), text]);
    });
    this.ended = new Promise((resolve, reject) => {
      request.on("end", resolve);
      request.on("error", reject);
      this.session.on("error", reject);
    });
    this.ended.catch(() => {}).finally(() => (this.isEnded = true));
  }

  until(part) { return eventually(() => this.text.includes(part), `“${part}” in ${this.text}`); }
  get lastEventID() { return /.*^id: (\S+)$/ms.exec(this.text)?.[1]; }
  close() { this.session.destroy(); }
}
