/**
 * Where all controllers of a page, or (in a SharedWorker) of all tabs, meet: one stream for all of
 * them, one result for each query, and for each tab no more than it keeps up with.
 */

import { applyChangeSet, ChangeSetError } from "./changeSet.js";
import { Stream } from "./stream.js";

/** Messages that a tab may leave unacknowledged; then it gets no more, and later a snapshot. */
const maximumUnacknowledged = 64;
/** Milliseconds in which comings and goings of controllers become one new stream. */
const gathering = 5;

/** One query with its parameters and window, for all who watch it. */
class Topic {
  /** @type {?{sections: object[], head: object}} records are `{key, record}`, as on the wire */
  result = null;
  state = "connecting";
  /** Member → the ids under which it watches. */
  watchers = new Map();
  /** Has a stream of its own: the server does not take it together with the others. */
  isAlone = false;

  constructor(base, query) {
    this.base = base;
    this.query = query;
  }

  get snapshot() {
    let offset = 0;
    const sections = this.result.sections.map(({ name, indexTitle, records }, index) => {
      const section = { index, name, indexTitle, numberOfRecords: records.length, offset };
      offset += records.length;
      return section;
    });
    return { ...this.result.head, sections,
      records: this.result.sections.flatMap(({ records }) => records) };
  }

  /** @returns {boolean} whether the snapshot says anything new */
  restart({ sections, records, ...head }) {
    if (head.version === this.result?.head.version) return false;
    this.result = { head, sections: sections.map(({ name, indexTitle, offset, numberOfRecords }) =>
      ({ name, indexTitle, records: records.slice(offset, offset + numberOfRecords) })) };
    return true;
  }

  /** @returns {boolean} whether the change set fits */
  apply({ willChange, events, didChange }) {
    const head = this.result?.head;
    if (!head || willChange?.from !== head.version) return false;
    if (willChange.version !== didChange.version) return false;
    try {
      const { sections } = applyChangeSet(this.result, events.map(({ event, data }) =>
        ({ event, data: event === "change" ? { ...data, record: entry(data) } : data })));
      if (sections.reduce((sum, { records }) => sum + records.length, 0) !== didChange.numberOfRecords) {
        return false;
      }
      const { from, numberOfSections, ...rest } = didChange;
      this.result = { head: { ...head, ...rest }, sections };
      return true;
    } catch (error) {
      if (error instanceof ChangeSetError) return false;
      throw error;
    }
  }
}

const entry = ({ key, record }) => ({ key, record });

/** A tab, or the page itself. */
class Member {
  #post;
  #unacknowledged = 0;
  #news = [];
  /** Topics of which it was not told because it lags: id → topic. */
  #missed = new Map();

  constructor(post) {
    this.#post = post;
  }

  add(id, kind, payload, topic) {
    const isResult = kind === "snapshot" || kind === "changeSet";
    if (this.#missed.has(id) && isResult) return;
    if (isResult && this.#unacknowledged >= maximumUnacknowledged) this.#missed.set(id, topic);
    else this.#news.push([id, kind, payload]);
  }

  forget(id) { this.#missed.delete(id); }

  flush() {
    if (this.#news.length === 0) return;
    this.#unacknowledged++;
    this.#post(this.#news.splice(0));
  }

  acknowledge() {
    if (--this.#unacknowledged > 0 || this.#missed.size === 0) return;
    const missed = [...this.#missed];
    this.#missed.clear();
    for (const [id, topic] of missed) this.add(id, "snapshot", topic.snapshot, topic);
    this.flush();
  }
}

export class Hub {
  /** Base and query → topic. @type {Map<string, Topic>} */
  #topics = new Map();
  #streams = [];
  #gathering = null;
  #members = new Set();

  /**
   * @param {(news: [id: number, kind: string, payload: any][]) => void} post
   * @returns {(message: object) => void} takes the messages of the new member:
   *   `{open, base, query}`, `{close}`, `{again}` (each an id), `{acknowledge}`, `{leave}`
   */
  join(post) {
    const member = new Member(post);
    const watched = new Map();
    const close = (id) => {
      this.#unwatch(watched.get(id), member, id);
      watched.delete(id);
    };
    return (message) => {
      if ("open" in message) {
        this.#members.add(member);
        watched.set(message.open, this.#watch(message, member));
      } else if ("close" in message) close(message.close);
      else if ("again" in message) this.#again(watched.get(message.again), member, message.again);
      else if ("acknowledge" in message) member.acknowledge();
      else if ("leave" in message) {
        for (const id of [...watched.keys()]) close(id);
        this.#members.delete(member);
      }
    };
  }

  #watch({ open: id, base, query }, member) {
    const name = `${base} ${query}`;
    const topic = this.#topics.get(name) ?? new Topic(base, query);
    this.#topics.set(name, topic);
    const ids = topic.watchers.get(member) ?? new Set();
    topic.watchers.set(member, ids.add(id));
    if (topic.result) member.add(id, "snapshot", topic.snapshot, topic);
    member.add(id, "state", topic.state);
    member.flush();
    this.#gather();
    return topic;
  }

  #unwatch(topic, member, id) {
    const ids = topic?.watchers.get(member);
    if (!ids?.delete(id)) return;
    member.forget(id);
    if (ids.size === 0) topic.watchers.delete(member);
    if (topic.watchers.size === 0) this.#gather();
  }

  #again(topic, member, id) {
    if (!topic?.result) return;
    member.add(id, "snapshot", topic.snapshot, topic);
    member.flush();
  }

  #gather() {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = null;
      this.#regroup();
    }, gathering);
  }

  /** Opens and closes streams so that all topics are on one for each server, and no others. */
  #regroup() {
    for (const [name, topic] of this.#topics) {
      if (topic.watchers.size === 0) this.#topics.delete(name);
    }
    const groups = groupsOf(this.#topics.values());
    const isSame = (a, b) => a.length === b.length && a.every((topic) => b.includes(topic));
    const kept = this.#streams.filter(({ topics }) => groups.some((group) => isSame(group, topics)));
    for (const stream of this.#streams) if (!kept.includes(stream)) stream.close();
    const added = groups.filter((group) => !kept.some(({ topics }) => isSame(group, topics)))
      .map((topics) => this.#streamOf(topics));
    this.#streams = [...kept, ...added];
  }

  #streamOf(topics) {
    const stream = new Stream(topics[0].base, topics, {
      opened: (resumes) => resumes && this.#become(topics, "live"),
      interrupted: () => this.#become(topics, "stale"),
      snapshot: (topic, data) => this.#restart(topic, data),
      commit: (changeSets) => this.#commit(stream, changeSets),
      failed: (topic, problem) => this.#tell(topic, "error", problem),
      refused: (topic, problem) => this.#refuse(topic, problem),
      clashed: () => this.#part(topics),
    });
    return stream;
  }

  #become(topics, state) {
    for (const topic of topics) {
      const next = state === "stale" && !topic.result ? "connecting" : state;
      if (topic.state === next) continue;
      topic.state = next;
      this.#add(topic, "state", next);
    }
    this.#flush();
  }

  #restart(topic, data) {
    const isNew = topic.restart(data);
    if (isNew) this.#add(topic, "snapshot", data);
    this.#become([topic], "live");
  }

  #commit(stream, changeSets) {
    for (const [topic, changeSet] of changeSets) {
      if (!topic.apply(changeSet)) {
        // What was told of this commit is right; the rest comes with the snapshots.
        this.#flush();
        return stream.startOver();
      }
      this.#add(topic, "changeSet", changeSet);
    }
    this.#flush();
  }

  #refuse(topic, problem) {
    if (problem) this.#add(topic, "error", problem);
    this.#tell(topic, "state", "closed");
    this.#topics.delete(`${topic.base} ${topic.query}`);
    this.#gather();
  }

  /** Two spellings of one query, or a URL too long: all but the first go alone. */
  #part(topics) {
    for (const topic of topics.slice(1)) topic.isAlone = true;
    this.#gather();
  }

  #add(topic, kind, payload) {
    for (const [member, ids] of topic.watchers) {
      for (const id of ids) member.add(id, kind, payload, topic);
    }
  }

  #tell(topic, kind, payload) {
    this.#add(topic, kind, payload);
    this.#flush();
  }

  #flush() {
    for (const member of this.#members) member.flush();
  }
}

/** The topics that share a stream. */
function groupsOf(topics) {
  const groups = new Map();
  for (const topic of topics) {
    const name = topic.isAlone ? topic : topic.base;
    groups.set(name, [...groups.get(name) ?? [], topic]);
  }
  return [...groups.values()];
}
