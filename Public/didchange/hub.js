/** Where all controllers of all tabs meet: one result a query. */

import { Member } from "./member.js";
import { Stream } from "./stream.js";
import { Topic, Watcher } from "./topic.js";

/** Queries of one stream; the server takes 64, and 8192 bytes. */
const mostTopics = 48;
/** Callers with a second stream for what moves: a browser has six connections to a server of HTTP/1.1. */
const mostWithTwo = 2;
/** Streams there: another request must come through. */
const mostStreams = 5;
/** Milliseconds: what comes and goes meanwhile costs one stream. */
const gathering = 5;
/** Milliseconds after which streams are tried again. */
const pollingTime = 600_000;

export class Hub {
  /** By name. */
  #topics = new Map();
  #streams = [];
  #members = new Set();
  #gathering = null;
  /** Where streams do not come through, by server: what is used instead, if there is anything, and until when. */
  #polls = new Map();

  /** A member is told `[id, kind, payload][]`; what it says goes to what is returned. */
  join(post) {
    const member = new Member(post);
    const { watchers } = member;
    return (message) => {
      if (message.open) this.#watch(member, message);
      if (message.close) this.#close(watchers.get(message.close));
      if (message.acknowledge) member.acknowledge();
      if (message.leave) {
        [...watchers.values()].forEach((watcher) => this.#close(watcher));
        this.#members.delete(member);
      }
      member.flush();
    };
  }

  #close(watcher) {
    if (!watcher) return;
    watcher.member.watchers.delete(watcher.id);
    watcher.member.forgive(watcher);
    watcher.topic.dismiss(watcher);
    this.#gather();
  }

  /** Who is known by that id goes on from what it has been shown. */
  #watch(member, { open: id, base, query, parameters, token = null, withCredentials = false, isAnother }) {
    this.#members.add(member);
    const known = member.watchers.get(id);
    const watcher = known ?? new Watcher(member, id);
    member.watchers.set(id, watcher);
    if (member.forgive(watcher)) watcher.shown = undefined;
    known?.topic.dismiss(known);
    // The token itself, which is in memory anyway: a hash says no more.
    const place = JSON.stringify([base, token, withCredentials]);
    const name = `${place} ${query} ${parameters}`;
    let topic = this.#topics.get(name);
    // Nothing of one that is over: the same cookie may be another's by now.
    if (!topic?.watchers.length) {
      topic = new Topic({ base, token, withCredentials, place }, query, parameters);
      if (known) topic.follow(known);
    }
    this.#topics.set(name, topic);
    if (isAnother) watcher.add("request", parameters);
    const { transport } = this.#kindFor(base);
    if (transport !== Stream.transport) watcher.add("transport", transport);
    if (topic.admit(watcher)) this.#beginAnew(name, topic);
    this.#gather();
  }

  /** Not all who wait have what the server would lead them from. */
  #beginAnew(name, { asker, query, parameters, watchers, hasMoved }) {
    const topic = Object.assign(new Topic(asker, query, parameters), { watchers, hasMoved });
    for (const watcher of watchers) watcher.topic = topic;
    this.#topics.set(name, topic);
  }

  #gather() {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = null;
      this.#regroup();
    }, gathering);
  }

  /** Opens the streams needed, and closes others. */
  #regroup() {
    const groups = this.#group();
    const bases = [...groups.values()].map(([{ asker }]) => asker.base);
    // More streams than connections take turns.
    const isCrowded = (base) => base.startsWith("http:") && bases.filter((other) => other === base).length > mostStreams;
    for (const base of bases) if (isCrowded(base)) this.#poll(base, Infinity);
    for (const [base, { until }] of this.#polls) if (until === Infinity && !isCrowded(base)) this.#switch(null, base);
    this.#streams = this.#streams.filter((stream) => {
      const { topics } = stream;
      for (const [group, wanted] of groups) {
        if (wanted.length === topics.length && wanted.every((topic) => topics.includes(topic))) {
          return groups.delete(group);
        }
      }
      stream.close();
    });
    for (const topics of groups.values()) {
      const [{ asker: { base } }] = topics;
      if (!isCrowded(base) || !this.#polls.get(base).isComing) this.#streams.push(this.#streamOf(topics));
    }
  }

  /** Name → the topics of one stream. */
  #group() {
    const groups = new Map();
    const callers = new Set();
    for (const [name, { asker, watchers }] of this.#topics) {
      if (watchers.length) callers.add(asker.place);
      else this.#topics.delete(name);
    }
    for (const topic of this.#topics.values()) {
      // What moves starts over alone, where there are connections for that.
      const isApart = topic.hasMoved && callers.size <= mostWithTwo;
      topic.settle(topic.asker.place + (isApart ? " moved " : " "), (place) => groups.get(place)?.length >= mostTopics);
      groups.set(topic.place, [...groups.get(topic.place) ?? [], topic]);
    }
    return groups;
  }

  #streamOf(topics) {
    const [{ asker }] = topics;
    const stream = new (this.#kindFor(asker.base))(asker, topics, {
      resumed: (some = topics) => this.#become(some, "live"),
      caughtUp: (some = topics) => {
        for (const topic of some) topic.loan &&= 1;
        this.#become(some, "live");
      },
      interrupted: (some = topics) => this.#become(some, "stale"),
      snapshot: (topic, data) => {
        if (topic.restart(data)) topic.tellSnapshot(data);
        this.#become([topic], "live");
      },
      commit: (changeSets, some = topics) => this.#commit(stream, changeSets, some),
      // Or can be read again, with nothing changed.
      failed: (topic, kind, data) => {
        topic.tellFailure(kind, data);
        this.#flush();
      },
      troubled: (met, some = topics) => this.#explain(asker, met, some),
      refused: (topic, problem) => this.#refuse(topic, problem),
      // Spellings of one query, or a URL too long: half go elsewhere.
      clashed: (topics) => {
        const place = {};
        for (const topic of topics.slice((topics.length + 1) / 2)) topic.place = place;
        this.#gather();
      },
      heldBack: () => this.#poll(asker.base),
      cut: (life) => import("./cuts.js").then(async ({ isOnTheWay }) =>
        await isOnTheWay(asker, life) && this.#poll(asker.base)).catch(() => {}),
      polled: () => Date.now() > this.#polls.get(asker.base)?.until && this.#use(null, asker.base),
      // The server has streams only.
      missing: () => this.#use({}, asker.base),
    });
    return stream;
  }

  #refuse(topic, problem) {
    const isBarred = [401, 403].includes(problem?.status);
    if (problem) topic.tell(isBarred ? "refused" : "error", problem);
    if (!isBarred) topic.tell("state", "closed");
    // Whoever has another token comes back, under the same id, and who has other parameters.
    topic.watchers = [];
    this.#gather();
    this.#flush();
  }

  #become(topics, wanted) {
    for (const topic of topics) {
      // It shows nothing, or not yet what it is to show.
      if (wanted === "live" && (!topic.head.version || topic.loan > 1)) continue;
      const state = wanted === "stale" && !topic.result ? "connecting" : wanted;
      if (topic.state !== state) topic.tell("state", state);
      topic.state = state;
      if (state === "live") topic.trouble = null;
    }
    this.#flush();
  }

  /** Tells why nothing comes: once, until something does. */
  async #explain(asker, met, topics) {
    const untold = topics.filter(({ trouble }) => !trouble);
    const waiting = {};
    for (const topic of untold) topic.trouble = waiting;
    const problem = met.problem ?? await import("./causes.js").then(({ causeOf }) => causeOf(asker, met))
      // It is of the same server.
      .catch(() => ({ reason: "unreachable", title: "The server cannot be reached", detail: asker.base }));
    for (const topic of untold) {
      if (topic.trouble === waiting) topic.tell("error", (topic.trouble = problem));
    }
    this.#flush();
  }

  /** What is told of a commit is right, even if the rest comes with snapshots. */
  #commit(stream, changeSets, topics) {
    const misfit = changeSets.find(([topic, changeSet]) => {
      const fits = topic.apply(changeSet);
      if (fits) topic.tellChangeSet(changeSet);
      return !fits;
    });
    this.#become(topics, "live");
    if (!misfit) return;
    for (const topic of topics) topic.head = {};
    stream.startOver(topics);
  }

  #kindFor(base) { return this.#polls.get(base)?.Kind ?? Stream; }

  /** Streams do not come through; later they may. */
  async #poll(base, until = Date.now() + pollingTime) {
    if (this.#polls.has(base)) return;
    this.#polls.set(base, { isComing: true });
    try {
      const { Polls } = await import("./polls.js");
      this.#use({ Kind: Polls, until }, base);
    } catch {
      // It cannot be had now; the next time that a stream does not come through it may be.
      this.#polls.delete(base);
      if (until === Infinity) this.#use({}, base);
    }
  }

  /** Whoever is told by other means from now on. */
  #use(polls, base) {
    this.#switch(polls, base);
    this.#flush();
    this.#regroup();
  }

  #switch(polls, base) {
    if (polls) this.#polls.set(base, polls);
    else this.#polls.delete(base);
    this.#streams = this.#streams.filter((stream) => {
      if (stream.topics[0].asker.base !== base) return true;
      stream.close();
      for (const topic of stream.topics) topic.tell("transport", this.#kindFor(base).transport);
    });
  }

  #flush() {
    for (const member of this.#members) member.flush();
  }
}
