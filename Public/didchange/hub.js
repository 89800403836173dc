/** Where all controllers of all tabs meet: one result a query. */

import { applyChangeSet, ChangeSetError } from "./changeSet.js";
import { Stream } from "./stream.js";
import { countOf, sectionsOf } from "./wire.js";

/** Messages that a tab may leave unacknowledged; then it gets a snapshot. */
const maximumUnacknowledged = 64;
/** Queries of one stream; the server takes 64, and 8192 bytes. */
const mostTopics = 48;
/** Milliseconds: what comes and goes meanwhile costs one stream. */
const gathering = 5;

/** What a version names; its number is another at another server, or in another life of one. */
const stateOf = (version) => version?.split(".")[0];

/** A query with its parameters and window, for all who watch it. */
class Topic {
  /** Its records are `{key, record}`, as on the wire; `head` stands around them. */
  result = null;
  head = {};
  state = "connecting";
  /** `[member, id]` of each who watches. */
  watchers = [];
  /** Names its stream. */
  place;

  /** `asker`: whose it is; others have a topic of their own. */
  constructor(asker, query, parameters) {
    Object.assign(this, { asker, query, given: new URLSearchParams(parameters) });
  }

  get snapshot() {
    let offset = 0;
    const sections = this.result.sections.map(({ name, indexTitle, records: { length } }, index) =>
      ({ index, name, indexTitle, numberOfRecords: length, offset: (offset += length) - length }));
    return { ...this.head, sections, records: this.result.sections.flatMap(({ records }) => records) };
  }

  /** Whether the snapshot says anything new. */
  restart({ sections, records, ...head }) {
    if (head.version === this.head.version) return false;
    this.head = head;
    this.result = { sections: sectionsOf(sections, records) };
    return true;
  }

  /** Whether the change set fits. */
  apply({ willChange, events, didChange: { from, numberOfSections, ...head } }) {
    if (stateOf(from) !== stateOf(this.head.version) || willChange?.from !== from) return false;
    if (willChange.version !== head.version) return false;
    try {
      const result = applyChangeSet(this.result, events.map(({ event, data }) =>
        ({ event, data: { ...data, record: { key: data.key, record: data.record } } })));
      if (countOf(result) !== head.numberOfRecords) return false;
      this.result = result;
      this.head = { ...this.head, ...head };
      return true;
    } catch (error) {
      if (error instanceof ChangeSetError) return false;
      throw error;
    }
  }

  tell(kind, payload) {
    for (const [member, id] of this.watchers) member.add(id, this, kind, payload);
  }
}

/** A tab, or the page. */
class Member {
  #post;
  #unacknowledged = 0;
  #news = [];
  /** Topics that it missed because it lags, by id. */
  missed = new Map();

  constructor(post) {
    this.#post = post;
  }

  add(id, topic, kind, payload) {
    const isResult = kind === "snapshot" || kind === "changeSet";
    if (isResult && this.missed.has(id)) return;
    if (isResult && this.#unacknowledged >= maximumUnacknowledged) this.missed.set(id, topic);
    else this.#news.push([id, kind, payload]);
  }

  present(id, topic) {
    if (topic.head.version) this.add(id, topic, "snapshot", topic.snapshot);
  }

  flush() {
    if (!this.#news.length) return;
    this.#unacknowledged++;
    this.#post(this.#news.splice(0));
  }

  acknowledge() {
    if (--this.#unacknowledged > 0) return;
    const missed = [...this.missed];
    this.missed.clear();
    for (const [id, topic] of missed) this.present(id, topic);
  }
}

export class Hub {
  /** By name. */
  #topics = new Map();
  #streams = [];
  #members = new Set();
  #gathering = null;

  /** A member is told `[id, kind, payload][]`; what it says goes to what is returned. */
  join(post) {
    const member = new Member(post);
    const watched = new Map();
    const close = (id) => {
      const topic = watched.get(id);
      if (!watched.delete(id)) return;
      member.missed.delete(id);
      topic.watchers = topic.watchers.filter(([who, what]) => who !== member || what !== id);
      this.#gather();
    };
    return (message) => {
      if (message.open) watched.set(message.open, this.#watch(member, message));
      if (message.close) close(message.close);
      if (message.acknowledge) member.acknowledge();
      if (message.leave) {
        [...watched.keys()].forEach(close);
        this.#members.delete(member);
      }
      member.flush();
    };
  }

  #watch(member, { open: id, base, query, parameters, token = null, withCredentials = false }) {
    this.#members.add(member);
    member.missed.delete(id);
    // The token itself, which is in memory anyway: a hash says no more.
    const place = JSON.stringify([base, token, withCredentials]);
    const name = `${place} ${query} ${parameters}`;
    let topic = this.#topics.get(name);
    // Nothing of one that is over: the same cookie may be another's by now.
    if (!topic?.watchers.length) topic = new Topic({ base, token, withCredentials, place }, query, parameters);
    this.#topics.set(name, topic);
    topic.watchers.push([member, id]);
    member.present(id, topic);
    member.add(id, topic, "state", topic.state);
    this.#gather();
    return topic;
  }

  #gather() {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = null;
      this.#regroup();
    }, gathering);
  }

  /** Opens the streams needed, and closes others. */
  #regroup() {
    const groups = new Map();
    for (const [name, topic] of this.#topics) {
      if (!topic.watchers.length) {
        this.#topics.delete(name);
        continue;
      }
      let n = 0;
      while (groups.get(topic.asker.place + n)?.length >= mostTopics) n++;
      const place = topic.place ??= topic.asker.place + n;
      groups.set(place, [...groups.get(place) ?? [], topic]);
    }
    this.#streams = this.#streams.filter((stream) => {
      const { topics } = stream;
      for (const [group, wanted] of groups) {
        if (wanted.length === topics.length && wanted.every((topic) => topics.includes(topic))) {
          return groups.delete(group);
        }
      }
      stream.close();
    });
    for (const topics of groups.values()) this.#streams.push(this.#streamOf(topics));
  }

  #streamOf(topics) {
    const stream = new Stream(topics[0].asker, topics, {
      resumed: () => this.#become(topics.filter(({ head }) => head.version), "live"),
      interrupted: () => this.#become(topics, "stale"),
      snapshot: (topic, data) => {
        if (topic.restart(data)) topic.tell("snapshot", data);
        this.#become([topic], "live");
      },
      commit: (changeSets) => this.#commit(stream, changeSets),
      // Or can be read again, with nothing changed.
      failed: (topic, kind, data) => {
        topic.tell(kind, data);
        this.#flush();
      },
      refused: (topic, problem) => this.#refuse(topic, problem),
      // Spellings of one query, or a URL too long: half go elsewhere.
      clashed: (topics) => {
        const place = {};
        for (const topic of topics.slice((topics.length + 1) / 2)) topic.place = place;
        this.#gather();
      },
    });
    return stream;
  }

  #refuse(topic, problem) {
    const isBarred = [401, 403].includes(problem?.status);
    if (problem) topic.tell(isBarred ? "refused" : "error", problem);
    if (!isBarred) topic.tell("state", "closed");
    // Whoever has another token comes back, under the same id.
    topic.watchers = [];
    this.#gather();
    this.#flush();
  }

  #become(topics, wanted) {
    for (const topic of topics) {
      const state = wanted === "stale" && !topic.result ? "connecting" : wanted;
      if (topic.state !== state) topic.tell("state", state);
      topic.state = state;
    }
    this.#flush();
  }

  /** What is told of a commit is right, even if the rest comes with snapshots. */
  #commit(stream, changeSets) {
    const misfit = changeSets.find(([topic, changeSet]) => {
      const fits = topic.apply(changeSet);
      if (fits) topic.tell("changeSet", changeSet);
      return !fits;
    });
    this.#flush();
    if (!misfit) return;
    for (const topic of stream.topics) topic.head = {};
    stream.startOver();
  }

  #flush() {
    for (const member of this.#members) member.flush();
  }
}
