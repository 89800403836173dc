/** The SharedWorker: a hub for all tabs. */

import { Hub } from "./hub.js";

const hub = new Hub();
/** A lock that is held for as long as this lives. */
const life = `didchange ${Math.random()}`;
const isHeld = new Promise((resolve) => navigator.locks?.request(life, () => (resolve(), new Promise(() => {}))));

globalThis.onconnect = ({ ports: [port] }) => {
  const take = hub.join((news) => port.postMessage(news));
  port.onmessage = ({ data }) => {
    take(data);
    // A tab holds a lock as long as it lives, also if it ends without a word.
    if (data.lock) navigator.locks?.request(data.lock, () => take({ leave: true }));
  };
  isHeld.then(() => port.postMessage({ life }));
};
