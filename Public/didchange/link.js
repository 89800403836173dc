/** A page's way to the hub: that of all tabs in a SharedWorker, or else one of its own. */

let next = 1;
/** Id → `{base, query, listener}`. */
const open = new Map();
/** What is said before there is a hub. */
let waiting = [];
const wait = (message) => waiting.push(message);
let send = wait;

function receive(news) {
  try {
    for (const [id, kind, payload] of news) open.get(id)?.listener(kind, payload);
  } finally {
    send({ acknowledge: true });
  }
}

async function useOwnHub() {
  const { Hub } = await import("./hub.js");
  send = new Hub().join(receive);
  waiting.splice(0).forEach(send);
}

/** A hub that is new, or has forgotten this page, knows of none. */
function openAll() {
  for (const [id, { base, query }] of open) send({ open: id, base, query });
}

function useSharedHub() {
  const worker =
    new SharedWorker(new URL("worker.js", import.meta.url), { type: "module", name: "didchange" });
  const { port } = worker;
  port.onmessage = ({ data }) => receive(data);
  send = (message) => port.postMessage(message);
  // The script is not to be had, or modules in workers are not: nothing has come of it yet.
  worker.onerror = () => {
    port.close();
    send = wait;
    openAll();
    useOwnHub();
  };
  const lock = `didchange ${Date.now()} ${Math.random()}`;
  navigator.locks?.request(lock, () => {
    send({ lock });
    return new Promise(() => {});
  });
  // Where there are no locks (http to another machine), a tab that ends says so.
  addEventListener("pagehide", () => send({ leave: true }));
  addEventListener("pageshow", ({ persisted }) => persisted && openAll());
}

/** `base` stands before `events`; `query` is a name, with parameters and window as a URL query. */
export function subscribe(base, query, listener) {
  const id = next++;
  if (id === 1) {
    try {
      useSharedHub();
    } catch {
      useOwnHub();
    }
  }
  open.set(id, { base, query, listener });
  send({ open: id, base, query });
  return { close: () => open.delete(id) && send({ close: id }) };
}
