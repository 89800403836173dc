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
 * @param {{token?: string | Function, withCredentials?: boolean}} [caller] another function is asked
 *   when a token is needed again; for another user give the component another `key`
 */
export function useFetchedRecords(url, parameters, window, { token, withCredentials } = {}) {
  const [shown, show] = useState(nothing);
  // A dependency must be equal when nothing has changed: objects are not.
  const [chosen, cut] = [JSON.stringify(parameters ?? {}), JSON.stringify(window ?? null)];
  // A function made in the component is another one each time; the first state is the same object.
  const [latest] = useState({ ask: (why) => latest.token(why) });
  latest.token = token;
  const teller = typeof token === "function" ? latest.ask : token;
  useEffect(() => {
    const controller = new FetchedRecordsController(
      url, { parameters: JSON.parse(chosen), window: JSON.parse(cut), token: teller, withCredentials });
    const update = () =>
      show({ sections: controller.sections, state: controller.state, controller });
    for (const name of ["snapshot", "didChange", "state"]) controller.addEventListener(name, update);
    return () => {
      for (const name of ["snapshot", "didChange", "state"]) {
        controller.removeEventListener(name, update);
      }
      controller.close();
    };
  }, [url, chosen, cut, teller, withCredentials]);
  return shown;
}
