/**
 * For React 18 and later:
 *
 *     const { sections, state } = useFetchedRecords("v1/queries/players", { country })
 *     const { sections, state } = useFetchedRecords("v1/queries/orders", {}, null, { order, token })
 *
 * Where only the parameters (those in the address too), the window or the order differ from the last time,
 * the records stay until the difference is here.
 */

import { useEffect, useState } from "react";
import { FetchedRecordsController } from "../didchange.js";

const nothing = { sections: [], state: "connecting", controller: null };

/**
 * @param {string} url the address of a query
 * @param {Object<string, string | number | bigint>} [parameters]
 * @param {{offset?: number, limit?: number}} [window]
 * @param {{order?: string, token?: string | Function, withCredentials?: boolean}} [options] another function
 *   is asked when a token is needed again; for another user give the component another `key`
 */
export function useFetchedRecords(url, parameters, window, { order, token, withCredentials } = {}) {
  const [shown, show] = useState(nothing);
  const [home, given] = String(url).split("?");
  // A dependency must be equal when nothing has changed: objects are not.
  const [chosen, cut] = [JSON.stringify(parameters ?? {}), JSON.stringify(window ?? null)];
  // A function made in the component is another one each time; the first state is the same object.
  const [latest] = useState({ ask: (why) => latest.token(why), controller: null });
  latest.token = token;
  const teller = typeof token === "function" ? latest.ask : token;
  useEffect(() => {
    const controller = latest.controller = new FetchedRecordsController(home, { token: teller, withCredentials });
    const update = () =>
      show({ sections: controller.sections, state: controller.state, controller });
    const names = ["snapshot", "didChange", "state"];
    for (const name of names) controller.addEventListener(name, update);
    return () => {
      for (const name of names) controller.removeEventListener(name, update);
      controller.close();
    };
  }, [home, teller, withCredentials]);
  // A new controller asks when this turn is over.
  useEffect(() => {
    const { order: named, ...others } = Object.fromEntries(new URLSearchParams(given));
    Object.assign(latest.controller,
      { parameters: { ...others, ...JSON.parse(chosen) }, order: order ?? named, window: JSON.parse(cut) });
  }, [home, teller, withCredentials, given, chosen, order, cut]);
  return shown;
}
