/**
 * For Vue 3.3 and later: a shallow ref of `{sections, records, state, error, controller}`.
 *
 *     const players = useFetchedRecords("v1/queries/players", () => ({ parameters: { country: country.value } }));
 *     <li v-for="{ id, name } in players.records" :key="id">{{ name }}</li>
 *
 * What the function reads may change: the records stay until the difference is here, as `stale`.
 */

import { onScopeDispose, shallowRef, toValue, watch } from "vue";
import { fetchedRecords, requestOf } from "./store.js";

/** @param options those of a controller, or a ref or a function of them; who asks is asked once */
export function useFetchedRecords(url, options) {
  const store = fetchedRecords(url, toValue(options));
  const value = shallowRef(store.value);
  onScopeDispose(store.subscribe((now) => { value.value = now; }));
  watch(() => requestOf(url, toValue(options)), (request) => store.ask(request));
  return value;
}
