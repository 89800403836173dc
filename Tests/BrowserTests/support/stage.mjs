// What tests play on: a folder, a database in it, a server with pages of the test's own, and a browser. All of
// it ends when the tests are over, also where the start failed half-way.

import { cpSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { after, before } from "node:test";
import { Database, Folder, publicFolder, Server } from "./server.mjs";
import { Browser } from "./webdriver.mjs";

export class Stage {
  #props = [];

  /** Stops or removes it at the end: what came last goes first. */
  keep(prop) {
    this.#props.push(prop);
    return prop;
  }

  /**
   * `sql` makes the database; without it there is no server either. `configuration` is what the file says below its first line, which names that
   * database, or a function of its path and of the stage. `options` are those of `didchange serve`. `pages`, path → text, stand
   * beside the product's own; `files` may write others to their folder. `browser`: true, or its engine and size.
   */
  async build({ sql, configuration, options = [], pages, files, browser }) {
    this.folder = this.keep(new Folder());
    if (pages) this.#write(pages, files);
    const starting = [];
    if (sql !== undefined) {
      this.database = new Database(this.folder.file("database.sqlite"), sql);
      const { path } = this.database;
      const text = typeof configuration === "function" ? await configuration(path, this) : `database: ${path}\n${configuration}`;
      this.server = this.keep(new Server([...options, "--config", this.folder.file("didchange.yaml", text)], { env: this.env }));
      starting.push(this.server.start());
    }
    if (browser) starting.push(Browser.start(browser === true ? {} : browser).then((one) => (this.browser = this.keep(one))));
    for (const { reason } of await Promise.allSettled(starting)) if (reason) throw reason;
    return this;
  }

  /** Where a server finds this stage's pages. */
  get env() { return this.public && { DIDCHANGE_PUBLIC: this.public }; }

  #write(pages, files) {
    this.public = this.folder.file("public");
    cpSync(publicFolder, this.public, { recursive: true });
    for (const [path, text] of Object.entries(pages)) {
      mkdirSync(dirname(`${this.public}/${path}`), { recursive: true });
      this.folder.file(`public/${path}`, text);
    }
    files?.(this.public);
  }

  async strike() {
    const troubles = [];
    for (const prop of this.#props.splice(0).reverse()) {
      await (async () => (prop.stop ?? prop.remove).call(prop))().catch((error) => troubles.push(error));
    }
    if (troubles.length > 0) throw troubles[0];
  }
}

/** For one test. */
export async function stageFor(t, set) {
  const stage = new Stage();
  t.after(() => stage.strike());
  return stage.build(set);
}

/** For the suite that calls it: there is all of it before the first test, and `ready` is handed it. */
export function stage(set, ready) {
  const stage = new Stage();
  before(async () => {
    try {
      await stage.build(set);
      await ready?.(stage);
    } catch (error) {
      await stage.strike();
      throw error;
    }
  });
  after(() => stage.strike());
}
