/** The SharedWorker: a hub for all tabs. */

import { Hub } from "./hub.js";

const hub = new Hub();

globalThis.onconnect = ({ ports: [port] }) => {
  const take = hub.join((news) => port.postMessage(news));
  port.onmessage = ({ data }) => {
    take(data);
    // A tab holds a lock as long as it lives, also if it ends without a word.
    if (data.lock) navigator.locks?.request(data.lock, () => take({ leave: true }));
  };
};
