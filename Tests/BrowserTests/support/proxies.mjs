// The proxies of Scripts/proxies as they run on Debian: the recipes with other ports and paths.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { Program } from "./program.mjs";
import { eventually, freePorts } from "./server.mjs";
import { without } from "./webdriver.mjs";

/** A text of Scripts with other words in it, which must be there: else the test would test nothing. */
export function adapted(path, replacements) {
  let text = readFileSync(new URL(`../../../Scripts/${path}`, import.meta.url), "utf8");
  for (const [from, to] of replacements) {
    if (!text.includes(from)) throw new Error(`${path} does not hold “${from}”`);
    text = text.replaceAll(from, to);
  }
  return text;
}

/** Longer than a heartbeat's interval, shorter than the test waits. */
export const idleLimit = 20;

/** The options of nginx for what stands in its http block. */
export function nginxOptions(folder, site) {
  mkdirSync(folder.file("nginx"), { recursive: true });
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder.file("nginx")}/${name};`).join("\n");
  folder.file("nginx.conf", `
    daemon off; master_process off; pid ${folder.file("nginx/pid")}; error_log ${folder.file("nginx/error.log")};
    events {} http { access_log off; ${temporary}\n${site} }`);
  return ["-p", folder.path, "-e", folder.file("nginx/error.log"), "-c", folder.file("nginx.conf")];
}

/** What each recipe has that is otherwise here, and the options of the program that reads it. */
const kinds = {
  nginx: {
    recipe: "nginx.conf",
    words: (folder, port) => [["listen 443", `listen 127.0.0.1:${port}`], ["/etc/ssl", folder.path], ["60s", `${idleLimit}s`]],
    options: nginxOptions,
  },
  caddy: {
    recipe: "Caddyfile",
    words: (folder, port) => [["\nexample.org {", `\nhttps://127.0.0.1:${port} {`], ["/etc/ssl", folder.path]],
    options(folder, site) {
      folder.file("Caddyfile", `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`);
      return ["run", "--adapter", "caddyfile", "--config", folder.file("Caddyfile")];
    },
  },
  haproxy: {
    recipe: "haproxy.cfg",
    words: (folder, port) => [["bind :443", `bind 127.0.0.1:${port}`], ["/etc/ssl", folder.path], ["60s", `${idleLimit}s`]],
    options(folder, site) {
      folder.file("haproxy.cfg", site);
      return ["-f", folder.file("haproxy.cfg"), "-db"];
    },
  },
};

export const proxyNames = Object.keys(kinds);

/** Why a proxy cannot be run here; false where it can. */
export const noProxy = (name) => without(name, "openssl");

function writeCertificate(folder) {
  const [certificate, key] = [folder.file("didchange.crt"), folder.file("didchange.key")];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate], { stdio: "ignore" });
  writeFileSync(folder.file("didchange.pem"), readFileSync(certificate, "utf8") + readFileSync(key, "utf8"));
}

export class Proxy {
  #program = new Program();

  /** One that runs, at a port of its own, with a certificate in the folder. */
  static async start(name, folder, settings) {
    writeCertificate(folder);
    const [port] = await freePorts(1);
    return new Proxy(name, folder, { ...settings, port }).start();
  }

  /**
   * @param {{port: number, recipe?: string, words: [string, string][]}} settings `words` of the recipe
   * become others
   */
  constructor(name, folder, { port, recipe = kinds[name].recipe, words }) {
    this.name = name;
    this.port = port;
    const site = adapted(`proxies/${recipe}`, [...kinds[name].words(folder, port), ...words]);
    this.options = kinds[name].options(folder, site);
    this.home = folder.path;
  }

  get url() { return `https://127.0.0.1:${this.port}/live/`; }

  async start() {
    // 401: behind a sign-in.
    const isReady = async () => [200, 401].includes((await this.get("healthz")).status);
    await this.#program.start(this.name, this.options, isReady, { HOME: this.home, XDG_DATA_HOME: this.home });
    return this;
  }

  stop() { return this.#program.stop(); }

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
