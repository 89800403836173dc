/** Whether something on the way cuts streams, or they broke because their server died. */

import { ask } from "./asking.js";

/** Milliseconds: streams that are cut further apart are unrelated. */
const unrelated = 60_000;

/** When a stream was cut last and how long it had lived, by server. */
const cuts = new Map();

/**
 * Somebody's stream was cut. What limits streams on the way lets them live equally long, in milliseconds;
 * a server dies at any time, and where there was no connection (NaN) one has died.
 */
export async function isOnTheWay(asker, life) {
  const { base } = asker;
  const last = cuts.get(base);
  const now = Date.now();
  cuts.set(base, { now, life });
  if (!(now - last?.now < unrelated && Math.abs(life - last.life) < 250 + life / 10)) return false;
  const answer = await ask(asker, `${base}selftest`, { method: "HEAD", cache: "no-store" });
  return answer.ok;
}
