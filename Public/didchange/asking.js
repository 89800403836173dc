/** How the hub asks the server, and when it asks again. */

// Milliseconds. A delay is drawn below a bound that doubles with each failure: not all come back at once.
// Failures further apart than `calm` are unrelated.
const [firstDelay, longestDelay, calm] = [500, 30_000, 60_000];

/** The waits after failures in a row. */
export class Delay {
  #failures = 0;
  #lastFailure = 0;

  /** Milliseconds: `atLeast`, and at random more, from as wide a range as `spread`. */
  next(atLeast = 0, spread = 0) {
    const now = Date.now();
    if (now - this.#lastFailure > calm) this.#failures = 0;
    this.#lastFailure = now;
    const longest = Math.min(longestDelay, firstDelay * 2 ** this.#failures++);
    return atLeast + Math.random() * Math.max(longest, spread);
  }

  /** What came last was good for a while. */
  reset() { this.#failures = 0; }
}

/** A request by somebody: `{token, withCredentials}`. */
export function ask({ token, withCredentials }, address, { headers, ...init } = {}) {
  return fetch(address, { ...init, ...withCredentials && { credentials: "include" },
    headers: { ...headers, ...token && { Authorization: `Bearer ${token}` } } });
}

/** What an answer means for whoever asked; its body is read where it says what is wrong. */
export async function answerOf(response) {
  const { status, statusText: title, headers } = response;
  // Not “too slow” and “too many”.
  const isFinal = status === 204 || (status >= 400 && status < 500 && ![408, 429].includes(status));
  const problem = status < 400 ? null
    : { ...await response.json().catch(() => ({ title, detail: "" })), status };
  const wait = 1000 * (Number(headers.get("Retry-After")) || 0);
  return { status, isGood: status < 400 && !isFinal, isFinal, problem, wait };
}
