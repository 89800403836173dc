/** What has happened to records since the page was opened, as far as it was shown them. */

import { jsonText } from "./values.js";

/** For a page that is left open overnight: changes in all, the oldest go first. */
const most = 5000;

export class History {
  /** Of all records, oldest first: `{key, commit, time, type, indexPath, newIndexPath, values}`. */
  #entries = [];

  /** @param {{key, type, changes, record}} change as a `change` event has it */
  note({ key, type, indexPath, newIndexPath, changes = {}, record }, commit, time = new Date()) {
    if (!key) return;
    const values = Object.entries(changes).map(([column, old]) => [column, old, record[column]]);
    this.#entries.push({ key: jsonText(key), commit, time, type, indexPath, newIndexPath, values });
    if (this.#entries.length > 1.1 * most) this.#entries.splice(0, this.#entries.length - most);
  }

  /** Those of one record, the newest first. */
  of(key) {
    const text = key && jsonText(key);
    return this.#entries.filter((entry) => entry.key === text).reverse();
  }
}

const histories = new Map();

/** Somebody else looks at the page. */
export const forgetHistories = () => histories.clear();

/** That of a query, whatever else is shown meanwhile. */
export function historyOf(query) {
  if (!histories.has(query)) histories.set(query, new History());
  return histories.get(query);
}
