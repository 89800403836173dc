/**
 * A live query as a value that is another one with each change: what React, Vue and Svelte have in common,
 * and a readable store as Svelte's contract has it.
 */

import { FetchedRecordsController } from "../didchange.js";

const none = { sections: [], records: [], state: "connecting", error: null, controller: null };

/** What a controller is asked for: the address may have parameters, an order and a window too. */
export function requestOf(url, { parameters, order, window } = {}) {
  const { order: named, offset, limit, ...given } = Object.fromEntries(new URLSearchParams(String(url).split("?")[1]));
  const cut = offset ?? limit;
  return { parameters: { ...given, ...parameters }, order: order ?? named ?? null, window: window ?? (cut ? { offset, limit } : null) };
}

/** Its controller lives while anybody is subscribed. The options are those of a controller. */
export function fetchedRecords(url, options = {}) {
  const { token, withCredentials } = options;
  let request = requestOf(url, options);
  let controller = null;
  let value = none;
  const listeners = new Set();

  function show(error = value.error) {
    const { sections, state, isPending } = controller;
    // Rows of what was asked for before are not what is asked for now.
    value = { sections, records: controller.fetchedRecords, error, controller,
      state: isPending && state === "live" ? "stale" : state };
    for (const listener of listeners) listener(value);
  }

  function begin() {
    controller = new FetchedRecordsController(String(url).split("?")[0], { token, withCredentials });
    Object.assign(controller, request);
    for (const name of ["snapshot", "didChange", "recovered"]) controller.addEventListener(name, () => show(null));
    for (const name of ["state", "pending"]) {
      // What is of no query was the connection's.
      controller.addEventListener(name, () => show(controller.state === "live" && !("query" in (value.error ?? {})) ? null : value.error));
    }
    controller.addEventListener("error", ({ detail }) => show(detail));
  }

  return {
    get value() { return value; },
    /** `{parameters, order, window}` of the same query; what is shown stays until the difference is here. */
    ask(other) {
      request = other;
      if (controller) Object.assign(controller, request);
    },
    /** Calls back at once, and after each change. @returns what ends it */
    subscribe(listener) {
      const own = (value) => listener(value);
      listeners.add(own);
      if (controller) own(value);
      else {
        begin();
        show(null);
      }
      return () => {
        listeners.delete(own);
        if (listeners.size || !controller) return;
        controller.close();
        [controller, value] = [null, none];
      };
    },
  };
}
