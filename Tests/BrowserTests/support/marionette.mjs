// Firefox's own protocol under WebDriver, which geckodriver speaks: Debian has no geckodriver.
// https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html

import { once } from "node:events";
import { connect } from "node:net";

/** WebDriver's method and path → the name of the command, and what of the path is a parameter. */
const commands = [
  [/^POST \/url$/, "WebDriver:Navigate"],
  [/^POST \/execute\/sync$/, "WebDriver:ExecuteScript"],
  [/^POST \/element$/, "WebDriver:FindElement"],
  [/^POST \/element\/(?<id>[^/]+)\/value$/, "WebDriver:ElementSendKeys"],
  [/^POST \/element\/(?<id>[^/]+)\/click$/, "WebDriver:ElementClick"],
  [/^GET \/window$/, "WebDriver:GetWindowHandle"],
  [/^POST \/window$/, "WebDriver:SwitchToWindow"],
  [/^POST \/window\/new$/, "WebDriver:NewWindow"],
  [/^DELETE \/window$/, "WebDriver:CloseWindow"],
  [/^GET \/screenshot$/, "WebDriver:TakeScreenshot"],
  [/^POST \/actions$/, "WebDriver:PerformActions"],
  [/^POST \/cookie$/, "WebDriver:AddCookie"],
];

/** A message is `length:JSON`: `[0, id, name, parameters]`, and `[1, id, error, result]` for an answer. */
export class Marionette {
  #socket;
  #bytes = Buffer.alloc(0);
  #next = 1;
  /** Id → what resolves and rejects. */
  #waiting = new Map();

  static async connect(port) {
    const marionette = new Marionette();
    marionette.#socket = connect(port, "127.0.0.1");
    await once(marionette.#socket, "connect");
    marionette.#socket.on("data", (bytes) => marionette.#take(bytes));
    marionette.#socket.on("error", () => {});
    marionette.#socket.on("close", () => {
      for (const [, reject] of marionette.#waiting.values()) reject(new Error("Firefox has gone"));
    });
    return marionette;
  }

  close() { this.#socket.destroy(); }

  command(name, parameters) {
    const id = this.#next++;
    const text = JSON.stringify([0, id, name, parameters]);
    this.#socket.write(`${Buffer.byteLength(text)}:${text}`);
    return new Promise((...settle) => this.#waiting.set(id, settle));
  }

  async call(method, path, body) {
    for (const [pattern, name] of commands) {
      const match = pattern.exec(`${method} ${path}`);
      if (!match) continue;
      const result = await this.command(name, { ...body, ...match.groups });
      return result && "value" in result ? result.value : result;
    }
    throw new Error(`Firefox has no ${method} ${path}`);
  }

  #take(bytes) {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    for (;;) {
      const colon = this.#bytes.indexOf(":");
      const end = colon + 1 + Number(this.#bytes.subarray(0, Math.max(colon, 0)));
      if (colon < 0 || this.#bytes.length < end) return;
      const message = JSON.parse(this.#bytes.subarray(colon + 1, end));
      this.#bytes = this.#bytes.subarray(end);
      // The first one says who it is.
      if (Array.isArray(message)) this.#settle(message);
    }
  }

  #settle([, id, error, result]) {
    const [resolve, reject] = this.#waiting.get(id) ?? [];
    this.#waiting.delete(id);
    if (error) reject?.(new Error(`${error.error}: ${error.message}`));
    else resolve?.(result);
  }
}
