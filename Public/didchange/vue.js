/**
 * For Vue 3.3 and later:
 *
 *     const players = useFetchedRecords("v1/queries/players", () => ({ parameters: { country: country.value } }))
 *     <li v-for="player in players.records">…</li>
 */

import { onScopeDispose, shallowRef, toValue, watchEffect } from "vue";
import { fetchedRecords, requestOf } from "./store.js";

/** The options are those of a controller, a ref of them, or what gives them: then what is asked for follows. */
export function useFetchedRecords(url, options) {
  const store = fetchedRecords(url, toValue(options));
  const shown = shallowRef(store.value);
  watchEffect(() => store.ask(requestOf(url, toValue(options))));
  onScopeDispose(store.subscribe((value) => (shown.value = value)));
  return shown;
}
