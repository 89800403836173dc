/** A page's way to the hub: that of all tabs where there is a SharedWorker, else one of its own. */

let next = 1;
/** Id → `{base, query, listener}`. */
const open = new Map();
/** Sends to the hub; null until there is one. @type {?(message: object) => void} */
let send = null;
let waiting = [];

function post(message) {
  if (send) send(message);
  else waiting.push(message);
}

function receive(news) {
  try {
    for (const [id, kind, payload] of news) open.get(id)?.listener(kind, payload);
  } finally {
    post({ acknowledge: true });
  }
}

function use(way) {
  send = way;
  for (const message of waiting.splice(0)) send(message);
}

async function useOwnHub() {
  const { Hub } = await import("./hub.js");
  use(new Hub().join(receive));
}

/** The other hub knows nothing of what was open. */
function openAll() {
  waiting = [];
  for (const [id, { base, query }] of open) post({ open: id, base, query });
}

function useSharedHub() {
  const worker =
    new SharedWorker(new URL("worker.js", import.meta.url), { type: "module", name: "didchange" });
  worker.port.onmessage = ({ data }) => receive(data);
  // The script is not to be had, or modules in workers are not: nothing has come of it yet.
  worker.onerror = () => {
    worker.port.close();
    send = null;
    openAll();
    useOwnHub();
  };
  use((message) => worker.port.postMessage(message));
  const lock = `didchange ${crypto.randomUUID?.() ?? Math.random()}`;
  navigator.locks?.request(lock, () => {
    post({ lock });
    return new Promise(() => {});
  });
  // Where there are no locks (http to another machine), a tab that ends says so.
  addEventListener("pagehide", () => post({ leave: true }));
  addEventListener("pageshow", ({ persisted }) => persisted && openAll());
}

function begin() {
  try {
    useSharedHub();
  } catch {
    useOwnHub();
  }
}

/**
 * @param {string} base what stands before `events`
 * @param {string} query its name, with parameters and window as a URL query
 * @param {(kind: "state" | "snapshot" | "changeSet" | "error", payload: any) => void} listener
 */
export function subscribe(base, query, listener) {
  const id = next++;
  open.set(id, { base, query, listener });
  if (id === 1) begin();
  post({ open: id, base, query });
  return {
    again: () => post({ again: id }),
    close: () => open.delete(id) && post({ close: id }),
  };
}
