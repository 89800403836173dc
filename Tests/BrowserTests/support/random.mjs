// Random numbers that come again with their seed.

/** A small generator with a seed (public domain, Tommy Ettinger). */
export function mulberry32(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** What random tests draw. */
export class Random {
  #next;

  constructor(seed) { this.#next = mulberry32(seed); }

  /** From `first` to `last`, both included. */
  number(first, last) { return first + Math.floor(this.#next() * (last - first + 1)); }
  pick(list) { return list[this.number(0, list.length - 1)]; }
  once(times) { return this.number(1, times) === 1; }

  /** One of `[weight, value]`. */
  weighed(choices) {
    let left = this.number(1, choices.reduce((sum, [weight]) => sum + weight, 0));
    return choices.find(([weight]) => (left -= weight) <= 0)[1];
  }
}
