// One controller of a page, and whether what it shows is what a SELECT with its claims would have shown.

const refusals = { signedOut: 401, forbidden: 403 };

const adopting = (kind) => kind === "snapshot" || kind === "didChange";

export class Watched {
  /**
   * Who it may be by now: the place of a token → the earliest transaction whose state it may show. More
   * than one where several tokens see the same.
   */
  #possible;
  #list = "[]";
  #before = "[]";
  /** What it may show by now: what is shown of one window stays until there is something of the next. */
  #windows;
  /** The token that is no longer good, and the earliest transaction after which it was not. */
  ending = null;
  state = "connecting";

  /**
   * @param {object} opened what its page noted when it opened it
   * @param {string[]} tokens those of its function, or its one, or the cookie's; grows. `""`: nobody
   * @param {number} floor the server was at this transaction before
   */
  constructor({ page, name, query, window = null, share, text }, tokens, floor) {
    Object.assign(this, { page, name, query, share, text, tokens, floor });
    this.#windows = [window];
    this.first = Math.max(0, tokens.length - 1);
    this.#possible = new Map([[this.first, floor]]);
    this.asked = new Map();
  }

  /** That which it was given last. */
  get window() { return this.#windows.at(-1); }
  get isOver() { return this.state in refusals; }
  /** Those that it may have by now. */
  get candidates() { return this.tokens.slice(Math.min(...this.#possible.keys())); }

  /** @throws {Error} if this may not have been shown */
  take(note, history) {
    switch (note.kind) {
      case "window": return this.#windows.push(note.window);
      case "asks": return this.asked.set(note.number, { first: Math.max(this.first, this.tokens.length - 1), floor: this.floor });
      case "answer": return this.#takeAnswer(note, history);
    }
    const list = JSON.stringify(note.list);
    this.state = note.state;
    if (note.kind === "willChange") this.#before = this.#list;
    if (note.kind === "snapshot" && JSON.stringify(note.detail.records.map(({ record }) => record)) !== list) {
      this.#fail(`shows ${list} and was told ${JSON.stringify(note.detail.records)}`);
    }
    if (note.kind === "snapshot" && note.version === "") this.#clear(list);
    else if (adopting(note.kind)) this.#adopt(note, list, history);
    else if (note.kind === "change") this.#check(note, list);
    else if (note.kind === "sectionChange") return;
    else if (list !== this.#list) this.#fail(`shows ${list} without a word of it`);
    if (note.kind === "error") this.#takeError(note.detail, history);
    if (note.kind === "state") this.#become(note.state, history);
  }

  #fail(text) {
    throw new Error(`${this} ${text}\nbefore, it showed ${this.#list}`);
  }

  toString() {
    const window = this.window ? ` (${this.window.offset}, ${this.window.limit})` : "";
    return `${this.name} of ${this.page}, ${this.query}${window}, ${this.share ? "by tokens" : this.text ? "by a token" : "by cookie"}`
      + ` ${JSON.stringify(this.tokens)}, at ${JSON.stringify([...this.#possible])},`;
  }

  #adopt(note, list, history) {
    for (const [passed, window] of this.#windows.entries()) {
      const possible = this.#placesOf(note, list, history, window, passed > 0);
      if (!possible.size) continue;
      this.#windows.splice(0, passed);
      this.#possible = possible;
      this.#list = list;
      return;
    }
    const wanted = this.candidates.map((token) => history.at(history.last, token, this.query, this.window));
    this.#fail(`was shown by ${note.kind}${note.tick === undefined ? "" : ` of transaction ${note.tick}`} what no SELECT shows `
      + `after transactions ${this.floor} to ${history.last}:\n${list}\nnow it would be\n${wanted.join("\nor ")}`);
  }

  /** As `#possible`, if this list is of that window. */
  #placesOf({ kind, tick }, list, history, window, hasMoved) {
    const possible = new Map();
    const place = (token, first) => {
      const asked = [this.tokens[token], this.query, window];
      // Some queries say of which transaction they are.
      if (tick === undefined) return history.find(list, first, ...asked);
      const isIt = tick >= first && tick <= history.last && history.at(tick, ...asked) === list;
      return isIt ? tick : undefined;
    };
    for (let token = Math.min(...this.#possible.keys()); token < this.tokens.length; token++) {
      const reached = hasMoved ? this.floor : this.#possible.get(token);
      // Another token takes over by a snapshot only, which may be what another page had before.
      if (reached === undefined && kind === "didChange") continue;
      const index = place(token, reached ?? this.floor);
      if (index !== undefined) possible.set(token, index);
    }
    return possible;
  }

  /** What changed or went was in the list before, and what came is in it now. */
  #check({ detail: { type, record, changes } }, list) {
    if (list !== this.#list && this.#list !== this.#before) this.#fail(`shows ${list} in the midst of a change set`);
    const [before, now] = [JSON.parse(this.#before), JSON.parse(list)].map((all) => all.map((one) => JSON.stringify(one)));
    const known = type === "deletion" ? before : now;
    const told = JSON.stringify(record);
    if (!known.includes(told)) this.#fail(`was told of ${told} (${type}), which is not in ${known}`);
    if (changes && !before.includes(JSON.stringify({ ...record, ...changes }))) {
      this.#fail(`was told that ${told} was ${JSON.stringify(changes)}`);
    }
    // The list is of this change set already, and `didChange` will have its word on it.
    this.#list = list;
  }

  #clear(list) {
    if (list !== "[]") this.#fail(`is refused and shows ${list}`);
    this.#list = list;
  }

  #takeError({ status, reason, cause, title }, history) {
    if (title === "The token function failed" && cause === "Error: offline") return;
    if (reason === "unreachable" && history.wasAway) return;
    if (status !== 401 && status !== 403) this.#fail(`fails: ${status} ${title} ${cause}`);
  }

  #become(state, history) {
    if (state === "closed") this.#fail("was closed by a refusal");
    const status = refusals[state];
    if (!status) return;
    if (this.#list !== "[]") this.#fail(`is ${state} and shows ${this.#list}`);
    // By one of those it may have had, or, where there are others to be had, by the last of all.
    const tried = status === 403 || !this.share ? this.candidates : this.tokens.slice(-1);
    const places = tried.map((token) => history.find(String(status), this.floor, token, this.query));
    if (places.every((place) => place === undefined)) this.#fail(`is ${state}, which it never was`);
    if (status === 401 && tried.length === 1) this.ending = { token: tried[0], place: places[0] };
  }

  #takeAnswer({ number, status, records }, history) {
    const { first, floor } = this.asked.get(number);
    this.asked.delete(number);
    // Cut off, or too many at once.
    if (status === 0) return;
    const json = status === 200 ? JSON.stringify(records) : String(status);
    const isSeen = this.tokens.slice(first).some((token) => history.find(json, floor, token, this.query) !== undefined);
    if (!isSeen) this.#fail(`was given a page that no SELECT shows: ${status} ${json}`);
  }

  /** Whether it shows what is true now, or was refused; from here on nothing earlier will do. */
  isTrue(history) {
    if (this.isOver) return true;
    if (this.state !== "live") return false;
    return this.candidates.some((token) => history.at(history.last, token, this.query, this.window) === this.#list);
  }

  settle(history) {
    const first = Math.min(...this.#possible.keys());
    this.#possible.clear();
    this.tokens.forEach((token, index) => {
      const isIt = index >= first && history.at(history.last, token, this.query, this.window) === this.#list;
      if (isIt) this.#possible.set(index, history.last);
    });
    this.#windows = [this.window];
    this.floor = history.last;
  }
}
