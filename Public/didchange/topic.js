/** One live query as a hub has it, and who is told of it. */

import { applyChangeSet, ChangeSetError } from "./changeSet.js";
import { countOf, sectionsOf } from "./wire.js";

/** What a version names; its number is another at another server, or in another life of one. */
const stateOf = (version) => version?.split(".")[0];

/** Whether two versions are of one content. */
const isSame = (one, other) => one !== undefined && stateOf(one) === stateOf(other);

/** A query with its parameters, order and window, for all who watch it. */
export class Topic {
  /** Its records are `{key, record}`, as on the wire; `head` stands around them. */
  result = null;
  head = {};
  state = "connecting";
  /** Why it cannot be read, and why nothing comes of it. */
  failure = null;
  trouble = null;
  /** The `Watcher`s. */
  watchers = [];
  /** Names its stream. */
  place;
  #home;
  /** 1: the result is another request's; 2: something may still lead on from there. */
  loan = 0;
  /** Whether it took the place of another request: such topics share a stream, and disturb no others. */
  hasMoved = false;

  /** `asker`: whose it is; others have a topic of their own. */
  constructor(asker, query, parameters) {
    Object.assign(this, { asker, query, parameters, given: new URLSearchParams(parameters) });
  }

  get snapshot() {
    let offset = 0;
    const sections = this.result.sections.map(({ name, indexTitle, records: { length } }, index) =>
      ({ index, name, indexTitle, numberOfRecords: length, offset: (offset += length) - length }));
    return { ...this.head, sections, records: this.result.sections.flatMap(({ records }) => records) };
  }

  /** Goes on from what a watcher has been shown of another request, if that is known. */
  follow(watcher) {
    const { topic } = watcher;
    if (topic.asker.place !== this.asker.place || topic.query !== this.query) return;
    this.hasMoved = true;
    if (!isSame(topic.head.version, watcher.shown)) return;
    [this.result, this.head, this.loan] = [topic.result, topic.head, 2];
  }

  /** Takes somebody in, and shows what there is. @returns whether nothing must lead here from elsewhere */
  admit(watcher) {
    this.watchers.push(watcher);
    const isShown = isSame(watcher.shown, this.head.version);
    watcher.topic = this;
    this.present(watcher);
    for (const wrong of [this.failure, this.trouble]) if (wrong?.title) watcher.add("error", wrong);
    watcher.add("state", this.state);
    return this.loan && !isShown;
  }

  /** Stays where it is while that is at home. */
  settle(home, isFull) {
    if (home === this.#home) return;
    this.#home = home;
    let n = 0;
    while (isFull(home + n)) n++;
    this.place = home + n;
  }

  dismiss(watcher) { this.watchers = this.watchers.filter((other) => other !== watcher); }

  /** Shows somebody all of it. */
  present(watcher) {
    if (this.head.version && !this.loan) watcher.show("snapshot", this.snapshot, this.head.version);
  }

  /** Whether the snapshot says anything new. */
  restart({ sections, records, ...head }) {
    if (head.version === this.head.version && !this.loan) return false;
    return this.#show({ sections: sectionsOf(sections, records) }, head);
  }

  /** Whether the change set fits. */
  apply({ willChange, events, didChange: { from, numberOfSections, ...head } }) {
    if (!isSame(from, this.head.version) || willChange?.from !== from) return false;
    if (willChange.version !== head.version) return false;
    try {
      const result = applyChangeSet(this.result, events.map(({ event, data }) =>
        ({ event, data: { ...data, record: { key: data.key, record: data.record } } })));
      if (countOf(result) !== head.numberOfRecords) return false;
      return this.#show(result, { ...this.head, ...head });
    } catch (error) {
      if (error instanceof ChangeSetError) return false;
      throw error;
    }
  }

  #show(result, head) {
    Object.assign(this, { result, head, loan: 0, failure: null });
    return true;
  }

  /** A failure once, though each stream begins with it. */
  tellFailure(kind, data) {
    const failure = kind === "error" ? { detail: "", ...data } : null;
    if (failure?.detail !== this.failure?.detail) this.tell(kind, data);
    this.failure = failure;
  }

  tell(kind, payload) {
    for (const watcher of this.watchers) watcher.add(kind, payload);
  }

  /** All are shown the snapshot that has come. */
  tellSnapshot(snapshot) {
    for (const watcher of this.watchers) watcher.show("snapshot", snapshot, snapshot.version);
  }

  /** Whoever has what it starts from is told the change set, and others what comes of it. */
  tellChangeSet(changeSet) {
    const { from, version } = changeSet.didChange;
    for (const watcher of this.watchers) {
      if (isSame(watcher.shown, from)) watcher.show("changeSet", changeSet, version);
      else this.present(watcher);
    }
  }
}

/** A controller of a tab. */
export class Watcher {
  topic = null;
  /** The version that it was shown last. */
  shown;

  constructor(member, id) {
    Object.assign(this, { member, id });
  }

  add(kind, payload) { this.member.add(this, kind, payload); }

  show(kind, payload, version) {
    this.shown = version;
    this.add(kind, payload);
  }
}
