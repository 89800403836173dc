// The three programs of Scripts/compose/shop as they stand, with other ports and paths.

import { fileURLToPath } from "node:url";
import { Program } from "./program.mjs";
import { adapted, nginxOptions } from "./proxies.mjs";
import { Database, Folder, freePorts, Server } from "./server.mjs";
import { without } from "./webdriver.mjs";

/** Why it cannot be run here; false where it can. */
export const noShop = without("nginx", "python3", "sqlite3");

const app = fileURLToPath(new URL("../../../Scripts/compose/shop/app.py", import.meta.url));

export class Shop {
  #folder = new Folder();
  #app = new Program();
  #nginx = new Program();

  async start() {
    const path = this.#folder.file("shop.sqlite");
    const [port, appPort] = await freePorts(2);
    const isAnswered = (port) => async () => (await fetch(`http://127.0.0.1:${port}/`)).ok;
    this.port = port;
    await this.#app.start("python3", ["-u", app, path, `127.0.0.1:${appPort}`], isAnswered(appPort));
    this.database = new Database(path);
    this.server = await new Server(["--config", this.#folder.file("shop.yaml", adapted("compose/shop/shop.yaml",
      [["/data", this.#folder.path], ["10.0.0.0/8", "127.0.0.1"]]))]).start();
    const site = adapted("compose/shop/nginx.conf", [
      // Each address has cookies of its own.
      ["listen 80;", [1, 2, 3].map((number) => `listen 127.0.0.${number}:${port};`).join(" ")],
      ["app:8000", `127.0.0.1:${appPort}`], ["didchange:8080", `127.0.0.1:${this.server.port}`],
    ]);
    await this.#nginx.start("nginx", nginxOptions(this.#folder, site), isAnswered(port));
    return this;
  }

  /** As a browser of its own sees it: 1, 2 or 3. */
  url(browser) { return `http://127.0.0.${browser}:${this.port}/`; }

  get log() { return this.#app.log + this.server.log; }

  async stop() {
    await this.#nginx.stop();
    await this.server?.stop();
    await this.#app.stop();
    this.#folder.remove();
  }
}
