/** How long a stream may be silent until it is known to be dead: two heartbeats. */

/** Milliseconds: the longest between two heartbeats (protocol, §4), and what the way may add. */
const [longest, slack] = [15_000, 2000];

export class Pulse {
  #interval = longest;
  #last = null;
  /** Between heartbeats with nothing between them: the server is silent for as long as it may be. */
  #gaps = [];

  get silence() { return 2 * this.#interval + slack; }

  /** An event, or a block without; times are in milliseconds. */
  heard(event, now) {
    const isBeat = event === "heartbeat";
    if (isBeat && this.#last !== null) this.#gaps = [...this.#gaps.slice(-2), now - this.#last];
    this.#last = isBeat ? now : null;
    // Where the way held one back, the next comes too soon: the longest of three is theirs.
    if (this.#gaps.length === 3) this.#interval = Math.min(longest, Math.max(...this.#gaps));
  }
}
