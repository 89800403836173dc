/**
 * For React 18 and later:
 *
 *     const { sections, records, state, error } = useFetchedRecords("v1/queries/players", { country })
 *     const { sections, state } = useFetchedRecords("v1/queries/orders", {}, null, { order, token })
 *
 * Where only the parameters (those in the address too), the window or the order differ from the last time,
 * the records stay until the difference is here; the state is then `stale`.
 */

import { useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { fetchedRecords, requestOf } from "./store.js";
import { textOf } from "./wire.js";

/**
 * @param {string} url the address of a query
 * @param {Object<string, string | number | bigint>} [parameters]
 * @param {{offset?: number, limit?: number}} [window]
 * @param {{order?: string, token?: string | Function, withCredentials?: boolean}} [options] another function
 *   is asked when a token is needed again; for another user give the component another `key`
 */
export function useFetchedRecords(url, parameters, window, { order, token, withCredentials } = {}) {
  const [home] = String(url).split("?");
  const request = requestOf(url, { parameters, order, window });
  // A dependency must be equal when nothing has changed: objects are not, nor is a function made here.
  const asked = textOf(request);
  const latest = useRef(token);
  const teller = typeof token === "function" ? true : token;
  const store = useMemo(() => fetchedRecords(home, { withCredentials,
    token: teller === true ? (why) => latest.current(why) : teller }), [home, teller, withCredentials]);
  const said = useRef({});
  useEffect(() => { latest.current = token; });
  useEffect(() => {
    store.ask(request);
    said.current = { store, asked };
  }, [store, asked]);
  const value = useSyncExternalStore(store.subscribe, () => store.value, () => store.value);
  // What was not asked for before this was drawn is not here.
  const isOld = said.current.store === store && said.current.asked !== asked && value.state === "live";
  return isOld ? { ...value, state: "stale" } : value;
}
