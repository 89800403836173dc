// Pages in one browser that open controllers at random, and note all that these show.

/** Holds pages, in frames that come and go, and their notes, which outlive them. It loads no module of ours. */
export const host = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title>
<link rel="icon" href="favicon.svg"><script>
globalThis.notes = [];
globalThis.awaited = {};
globalThis.openPage = (name) => new Promise((resolve) => {
  awaited[name] = resolve;
  const frame = document.createElement("iframe");
  Object.assign(frame, { name, src: "randomPage.html#" + name });
  document.body.append(frame);
});
globalThis.reloadPage = (name) => new Promise((resolve) => {
  awaited[name] = resolve;
  frames[name].location.reload();
});
globalThis.closePage = (name, how) => {
  const frame = document.getElementsByName(name)[0];
  if (how === "blank") frame.src = "about:blank";
  frame.name = "";
  if (how !== "blank") frame.remove();
};
/** Calls a function of a page. */
globalThis.within = (name, what, ...options) => frames[name][what](...options);
</script><body></body></html>`;

/** A page is ready when it has the worker, so that the server may go away. */
const script = `
import { FetchedRecordsController } from "./didchange.js";
import "./didchange/caller.js";

const page = location.hash.slice(1);
const controllers = new Map();
const functions = new Map();

const note = (what) =>
  parent.notes.push(JSON.stringify({ page, at: performance.timeOrigin + performance.now(), ...what }));

/** Controllers of a page that name the same one share it. */
function functionNamed(name, tokens, failures) {
  if (!functions.has(name)) {
    let asked = 0;
    functions.set(name, async () => {
      if (failures-- > 0) throw new Error("offline");
      const token = tokens[Math.min(asked++, tokens.length - 1)];
      note({ kind: "token", function: name, token });
      return token;
    });
  }
  return functions.get(name);
}

/** Who asks: a text, or the name of a function; neither: the cookie says who it is. */
globalThis.openOne = (one) => {
  const { name, query, window, text, share, tokens, failures } = one;
  const token = share ? functionNamed(share, tokens, failures) : text;
  note({ ...one, kind: "open" });
  const controller = new FetchedRecordsController("v1/queries/" + query, { window, ...token && { token } });
  controllers.set(name, controller);
  for (const kind of ["snapshot", "willChange", "sectionChange", "change", "didChange", "error", "state"]) {
    controller.addEventListener(kind, ({ detail }) => note({
      name, kind, list: controller.fetchedRecords, state: controller.state, version: controller.version,
      tick: controller.alongside.tick, detail: kind === "error" ? { ...detail, cause: String(detail.cause ?? "") } : detail,
    }));
  }
};

globalThis.closeOne = (name) => {
  note({ name, kind: "closed" });
  controllers.get(name).close();
  controllers.delete(name);
};

globalThis.moveOne = (name, window) => {
  controllers.get(name).window = window;
  note({ name, kind: "window", window });
};

globalThis.fetchPage = async (name, number) => {
  const controller = controllers.get(name);
  note({ name, kind: "asks", number });
  const answer = await controller.fetch(controller.address("records") + "?limit=1000").catch(() => null);
  const records = answer?.ok ? (await answer.json()).records.map(({ record }) => record) : null;
  note({ name, kind: "answer", number, status: answer?.status ?? 0, records });
};

globalThis.setCookie = (cookie) => {
  document.cookie = "session=" + cookie;
  note({ kind: "cookie", cookie });
};

/** Others, all at once; \`cookie\` is set in between. */
globalThis.exchange = (closed, cookie, opened) => {
  closed.forEach(closeOne);
  if (cookie !== null) setCookie(cookie);
  opened.forEach(openOne);
};

/** Opens others as soon as one is no longer live. */
globalThis.openAfter = (name, opened) => new Promise((resolve) => {
  const controller = controllers.get(name);
  const look = () => {
    if (controller.state === "live") return;
    controller.removeEventListener("state", look);
    opened.forEach(openOne);
    resolve();
  };
  controller.addEventListener("state", look);
  look();
});

/** Waits until the worker has heard all that this page has said. */
globalThis.settled = () => new Promise((resolve) => {
  const sentinel = new FetchedRecordsController("v1/queries/notices", { token: "sentinel" });
  sentinel.addEventListener("snapshot", () => {
    sentinel.close();
    resolve();
  });
});

await settled();
parent.awaited[page]();
`;

export const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Page</title>
<link rel="icon" href="favicon.svg"><script type="module">${script}</script></html>`;
