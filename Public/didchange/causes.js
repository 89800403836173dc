/** Why nothing comes, for people; loaded when it does not. */

/** Whether anybody is there, though this page may not read what they say. */
const answers = (base) =>
  fetch(`${base}selftest`, { method: "HEAD", mode: "no-cors", cache: "no-store", signal: AbortSignal.timeout(5000) })
    .then(() => true, () => false);

/**
 * The problem of an `error` event.
 *
 * `met` is what a request met: the `type` of what another server sent, or nothing where there was no answer.
 */
export async function causeOf({ base }, { type }) {
  if (type !== undefined) {
    return { reason: "foreign", title: "This is no didchange server", detail: `${base}events gave ${type || "something without a type"} in place of text/event-stream` };
  }
  const here = globalThis.location?.origin;
  const isForeign = here && new URL(base).origin !== here;
  if (isForeign && await answers(base)) {
    return { reason: "cors", title: "Refused by CORS", detail: `${base} answers, and lets no page of ${here} read it: add that to “cors” in its configuration` };
  }
  return unreachable(base);
}

const unreachable = (base) =>
  ({ reason: "unreachable", title: "The server cannot be reached", detail: `${base} does not answer: is it up, and the address right?` });
