/**
 * For React 18 and later:
 *
 *     const { sections, state } = useFetchedRecords("v1/queries/players", { country })
 *     const { sections, state } = useFetchedRecords("v1/queries/orders", {}, null, { token })
 */

import { useEffect, useState } from "react";
import { FetchedRecordsController } from "../didchange.js";

const nothing = { sections: [], state: "connecting", controller: null };

/**
 * @param {string} url the address of a query
 * @param {Object<string, string | number | bigint>} [parameters]
 * @param {{offset?: number, limit?: number}} [window]
 * @param {{token?: string | Function, withCredentials?: boolean}} [caller] a function that is made
 *   anew makes a connection anew: keep it outside the component, or in `useCallback`
 */
export function useFetchedRecords(url, parameters, window, { token, withCredentials } = {}) {
  const [shown, show] = useState(nothing);
  // A dependency must be equal when nothing has changed: objects are not.
  const [chosen, cut] = [JSON.stringify(parameters ?? {}), JSON.stringify(window ?? null)];
  useEffect(() => {
    const controller = new FetchedRecordsController(
      url, { parameters: JSON.parse(chosen), window: JSON.parse(cut), token, withCredentials });
    const update = () =>
      show({ sections: controller.sections, state: controller.state, controller });
    for (const name of ["snapshot", "didChange", "state"]) controller.addEventListener(name, update);
    return () => {
      for (const name of ["snapshot", "didChange", "state"]) {
        controller.removeEventListener(name, update);
      }
      controller.close();
    };
  }, [url, chosen, cut, token, withCredentials]);
  return shown;
}
