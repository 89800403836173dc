/** What a change set means. Tests/Vectors hold it against the server's own `apply`. */

/** @import {ChangeEvent, Result} from "../didchange.d.ts" */

/** A change set that does not fit the result it is meant for. */
export class ChangeSetError extends Error {
  name = "ChangeSetError";
}

/**
 * The result that a change set makes of `result`, which is left as it is. This is the meaning of the
 * events: the five steps of the protocol, §3.
 *
 * O(s + n + k log k): s sections, n records in the sections that the change set names, k changes.
 *
 * @param {Result} result
 * @param {ChangeEvent[]} events the section and record changes of one change set, in any order
 * @returns {Result}
 * @throws {ChangeSetError} where an index path leads nowhere or a deleted section is not empty
 */
export function applyChangeSet(result, events) {
  const changes = sortOut(events);
  let sections = result.sections.slice();
  rebuild(sections, changes.taken, withoutPlaces);
  for (const index of changes.deletedSections) {
    const left = sectionAt(sections, index).records.length;
    if (left > 0) throw new ChangeSetError(`deleted section ${index} holds ${left} records`);
  }
  sections = withoutPlaces(sections, changes.deletedSections);
  sections = withPlaced(sections, changes.insertedSections);
  rebuild(sections, changes.placed, withPlaced);
  rebuild(sections, changes.updated, withReplaced);
  return { sections };
}

/** Replaces the sections that `changes` name by ones with the records that `make` makes of theirs. */
function rebuild(sections, changes, make) {
  for (const [index, entries] of changes) {
    const section = sectionAt(sections, index);
    sections[index] = { ...section, records: make(section.records, entries) };
  }
}

/** The changes by what is done with them: those of records in a list for each section. */
function sortOut(events) {
  const changes = {
    taken: new Map(), placed: new Map(), updated: new Map(),
    deletedSections: [], insertedSections: [],
  };
  for (const { event, data } of events) {
    if (event === "sectionChange") sortOutSection(changes, data);
    else if (event === "change") sortOutRecord(changes, data);
    else throw new ChangeSetError(`“${event}” is no event of a change set`);
  }
  return changes;
}

function sortOutSection(changes, { type, section, name, indexTitle }) {
  if (type === "deletion") changes.deletedSections.push(section);
  else if (type === "insertion") {
    changes.insertedSections.push([section, { name, indexTitle, records: [] }]);
  } else throw new ChangeSetError(`“${type}” is no type of a section change`);
}

function sortOutRecord(changes, { type, indexPath, newIndexPath, record }) {
  const taken = type === "deletion" || type === "move";
  const placed = type === "insertion" || type === "move";
  if (!taken && !placed && type !== "update") {
    throw new ChangeSetError(`“${type}” is no type of a record change`);
  }
  if (taken) file(changes.taken, indexPath, indexPath?.[1]);
  if (placed) file(changes.placed, newIndexPath, [newIndexPath?.[1], record]);
  if (type === "update") file(changes.updated, newIndexPath, [newIndexPath?.[1], record]);
}

function file(bySection, indexPath, entry) {
  if (!indexPath?.every(Number.isInteger) || indexPath.length !== 2) {
    throw new ChangeSetError(`“${indexPath}” is no index path`);
  }
  const entries = bySection.get(indexPath[0]);
  if (entries) entries.push(entry);
  else bySection.set(indexPath[0], [entry]);
}

function sectionAt(sections, index) {
  const section = sections[index];
  if (!section) throw new ChangeSetError(`there is no section ${index} of ${sections.length}`);
  return section;
}

/** `list` without what stands at `places`. One that is not there or is named twice is never passed. */
function withoutPlaces(list, places) {
  if (places.length === 0) return list;
  const sorted = [...places].sort((a, b) => a - b);
  let passed = 0;
  const kept = list.filter((_, place) => {
    const stays = place !== sorted[passed];
    if (!stays) passed++;
    return stays;
  });
  if (passed === sorted.length) return kept;
  throw new ChangeSetError(`nothing to take out at ${sorted[passed]} of ${list.length}`);
}

/** `list` with each `[place, element]` put in, where places count in the list that comes out. */
function withPlaced(list, placed) {
  if (placed.length === 0) return list;
  const merged = [];
  let next = 0;
  for (const [place, element] of [...placed].sort((a, b) => a[0] - b[0])) {
    const between = place - merged.length;
    if (!(between >= 0 && next + between <= list.length)) {
      throw new ChangeSetError(`nothing can be put in at ${place} of ${list.length}`);
    }
    while (merged.length < place) merged.push(list[next++]);
    merged.push(element);
  }
  while (next < list.length) merged.push(list[next++]);
  return merged;
}

function withReplaced(list, updates) {
  const copy = list.slice();
  for (const [place, element] of updates) {
    if (!(place in list)) throw new ChangeSetError(`nothing to update at ${place} of ${list.length}`);
    copy[place] = element;
  }
  return copy;
}
