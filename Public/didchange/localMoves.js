/** Records that are shown elsewhere before the server says where they are, as after drag and drop. */

import { ChangeSetError } from "./changeSet.js";
import { keyOf, textOf } from "./wire.js";

export class LocalMoves {
  #controller;
  #show;
  /** `{key, to, way, isSettled}` in their order; `way` is from where and to where it is shown now. */
  #moves = [];

  /** `show` takes what makes a change set for what stands around the records. */
  constructor(controller, show) {
    [this.#controller, this.#show] = [controller, show];
  }

  /** @returns what takes it back */
  add(key, to, request) {
    const move = { key, to, way: null, isSettled: !request };
    this.#moves.push(move);
    this.#apply(move);
    const undo = () => this.#end(move);
    Promise.resolve(request).then((answer) => (answer?.ok === false ? undo() : (move.isSettled = true)), undo);
    return undo;
  }

  /** What is shown is what the server says. */
  takeBack() {
    for (const move of this.#moves.slice().reverse()) {
      const { way } = move;
      move.way = null;
      if (way) this.#showAt(...way.slice().reverse());
    }
  }

  /** After a change set, or a snapshot (null): what it does not decide is shown elsewhere still. */
  goOn(events) {
    const named = events && new Set(events.map(({ data }) => textOf(data.key)));
    this.#moves = this.#moves.filter(({ key, isSettled }) =>
      named && !isSettled && !named.has(textOf([key].flat())));
    for (const move of this.#moves) this.#apply(move);
  }

  #apply(move) {
    const from = this.#controller.indexPathFor(move.key);
    try {
      if (from) this.#showAt(from, move.to);
      move.way = from && [from, move.to];
    } catch (error) {
      // There is no such place any more.
      if (!(error instanceof ChangeSetError)) throw error;
    }
  }

  /** As a change set of one move. */
  #showAt(indexPath, newIndexPath) {
    const record = this.#controller.recordAt(indexPath);
    const data = { type: "move", indexPath, newIndexPath, key: keyOf(record), changes: {}, record, isLocal: true };
    const numberOfSections = this.#controller.sections.length;
    this.#show((head) => {
      const about = { ...head, from: head.version, isLocal: true };
      return { willChange: { ...about, numberOfChanges: 1 }, events: [{ event: "change", data }], didChange: { ...about, numberOfSections } };
    });
  }

  #end(move) {
    if (!this.#moves.includes(move)) return;
    this.takeBack();
    this.#moves = this.#moves.filter((other) => other !== move);
    for (const other of this.#moves) this.#apply(other);
  }
}
