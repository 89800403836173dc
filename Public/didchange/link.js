/** A page's way to the hub: that of all tabs in a SharedWorker, or one of its own. */

let next = 1;
/** Id → `[topic, listener]`. */
const open = new Map();
/** What is said before there is a hub. */
let waiting = [];
const wait = (message) => waiting.push(message);
let send = wait;

function receive(news) {
  try {
    for (const [id, kind, payload] of news) open.get(id)?.[1](kind, payload);
  } finally {
    send({ acknowledge: true });
  }
}

async function useOwnHub() {
  const { Hub } = await import("./hub.js");
  send = new Hub().join(receive);
  waiting.splice(0).forEach(send);
}

/** A new hub, or one that has forgotten this page, knows of none. */
function openAll() {
  for (const [id, [topic]] of open) send({ open: id, ...topic });
}

function useSharedHub() {
  // Its name changes with what is said to it: older tabs may be open.
  const worker =
    new SharedWorker(new URL("worker.js", import.meta.url), { type: "module", name: "didchange 2" });
  const { port } = worker;
  port.onmessage = ({ data }) => receive(data);
  send = (message) => port.postMessage(message);
  // No script, or no modules in workers: nothing has come of it yet.
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

/** `{base, query, parameters}`: what stands before `events`, a name, and a URL query. */
export function subscribe(topic, listener) {
  const id = next++;
  if (id === 1) {
    try {
      useSharedHub();
    } catch {
      useOwnHub();
    }
  }
  open.set(id, [topic, listener]);
  send({ open: id, ...topic });
  return { close: () => open.delete(id) && send({ close: id }) };
}
