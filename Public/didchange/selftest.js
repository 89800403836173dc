/** Whether anything on the way keeps bytes back: ticks that were sent apart come apart. */

import { ask } from "./asking.js";
import { EventParser, readEvents } from "./eventParser.js";

/** `{isHeldBack, lateness}`, the latter in milliseconds, of the answer to `…/v1/selftest`. */
export async function ticksIn(response) {
  const late = [];
  let first, last;
  await readEvents(response, new EventParser((event, data) => {
    if (event !== "tick") return;
    last = JSON.parse(data).after;
    first ??= performance.now();
    late.push(performance.now() - first - last);
  }));
  if (!late.length) throw new Error("no ticks");
  // Held until the last was sent, they come together.
  return { isHeldBack: late.at(-1) < -last / 2, lateness: Math.max(1, ...late.map(Math.abs)) };
}

/** The same, if the answer is there within so many milliseconds. */
export const testFor = async (asker, patience) => ticksIn(await ask(asker, `${asker.base}selftest`,
  { signal: AbortSignal.timeout(patience), cache: "no-store" }));
