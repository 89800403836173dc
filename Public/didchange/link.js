/** A page's way to the hub: that of all tabs in a SharedWorker, or one of its own. */

import { missing } from "./wire.js";

let next = 1;
/** Id → `{topic, listener, options}`, the caller, and the message by which the hub hears of it. */
const open = new Map();
/** What is said before there is a hub. */
let waiting = [];
const wait = (message) => waiting.push(message);
let send = wait;
/** Why there can be no hub: a file of this module is missing. */
let flaw = null;

function receive(news) {
  try {
    for (const [id, kind, payload] of news) if (open.has(id)) tell(id, open.get(id), kind, payload);
  } finally {
    send({ acknowledge: true });
  }
}

function tell(id, entry, kind, payload) {
  if (payload === "live") entry.caller?.token?.proved();
  if (kind === "refused" && payload.status === 401 && entry.options?.token) enter(id, entry, payload);
  else entry.listener(kind, payload);
}

/** Tells the hub by which token; after a refusal by another one, if there is any. */
async function enter(id, entry, refusal) {
  const last = entry.message;
  entry.message = null;
  const isOpen = () => open.get(id) === entry;
  const { callerOf, introduction } = await import("./caller.js").catch((error) => {
    giveUp(entry, missing(error));
    return {};
  });
  if (!callerOf) return;
  entry.caller = callerOf(entry.options);
  const words = await introduction(entry.caller, refusal && last, entry.listener, isOpen);
  if (!isOpen()) return;
  if (words) send(entry.message = { open: id, ...entry.topic, ...words });
  else entry.listener("refused", refusal);
}

async function useOwnHub() {
  try {
    const { Hub } = await import("./hub.js");
    send = new Hub().join(receive);
    waiting.splice(0).forEach(send);
  } catch (error) {
    flaw = missing(error);
    for (const entry of open.values()) giveUp(entry, flaw);
  }
}

function giveUp({ listener }, problem) {
  listener("error", problem);
  listener("state", "closed");
}

/** A new hub, or one that has forgotten this page, knows of none. */
function openAll() {
  for (const { message } of open.values()) if (message) send(message);
}

function useSharedHub() {
  // Its name changes with what is said to it: older tabs may be open.
  const worker =
    new SharedWorker(new URL("worker.js", import.meta.url), { type: "module", name: "didchange 7" });
  const { port } = worker;
  port.onmessage = ({ data }) => (data.life ? outlive(data.life) : receive(data));
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
}

/** Goes on in another worker when this one ends: it says nothing, and in WebKit it may end with another tab. */
const outlive = (life) => navigator.locks.request(life, () => setTimeout(() => {
  useSharedHub();
  openAll();
  // Firefox gives the old one for some milliseconds.
}, 500));

/**
 * `{base, query, parameters}`: what stands before `events`, a name, and a URL query. `options` say who.
 * `ask` asks for something else of the same query.
 */
export function subscribe(topic, listener, options = null) {
  const id = next++;
  if (id === 1) {
    try {
      useSharedHub();
      // Where there are no locks (http to another machine), a tab that ends says so.
      addEventListener("pagehide", () => send({ leave: true }));
      addEventListener("pageshow", ({ persisted }) => persisted && openAll());
    } catch {
      useOwnHub();
    }
  }
  const entry = { topic, listener, options, caller: null, message: null };
  open.set(id, entry);
  if (flaw) queueMicrotask(() => open.has(id) && giveUp(entry, flaw));
  else if (options) enter(id, entry);
  else send(entry.message = { open: id, ...topic });
  return {
    ask(topic) {
      entry.topic = { ...topic, isAnother: true };
      // Who asks is said soon, if it is not said yet.
      if (entry.message) send(entry.message = { ...entry.message, ...entry.topic });
    },
    close: () => open.delete(id) && send({ close: id }),
  };
}
