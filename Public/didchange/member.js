/** Messages that a tab may leave unacknowledged; then it gets a snapshot. */
const maximumUnacknowledged = 64;

/** A tab, or the page, as a hub has it. */
export class Member {
  #post;
  #unacknowledged = 0;
  #news = [];
  /** Those of its controllers that missed something because it lags. */
  #missed = new Set();
  /** Its controllers, by id. */
  watchers = new Map();

  constructor(post) {
    this.#post = post;
  }

  add(watcher, kind, payload) {
    const isResult = kind === "snapshot" || kind === "changeSet";
    if (isResult && this.#missed.has(watcher)) return;
    if (isResult && this.#unacknowledged >= maximumUnacknowledged) this.#missed.add(watcher);
    else this.#news.push([watcher.id, kind, payload]);
  }

  /** What a controller has missed it need not be shown any more. @returns whether it has missed anything */
  forgive(watcher) { return this.#missed.delete(watcher); }

  flush() {
    if (!this.#news.length) return;
    this.#unacknowledged++;
    this.#post(this.#news.splice(0));
  }

  acknowledge() {
    if (--this.#unacknowledged > 0) return;
    const missed = [...this.#missed];
    this.#missed.clear();
    for (const watcher of missed) watcher.topic.present(watcher);
  }
}
