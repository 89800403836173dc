/** What a change set means. Tests/Vectors hold it against the server's own `apply`. */

/** A change set that does not fit the result it is meant for. */
export class ChangeSetError extends Error {
  name = "ChangeSetError";
}

const refuse = (text) => {
  throw new ChangeSetError(text);
};

/**
 * The result that a change set makes of `result`, which is left as it is: protocol, §3. Its events may
 * come in any order; it is refused where a path leads nowhere or a deleted section is not empty.
 *
 * O(s + n + k log k): s sections, n records in the sections that it names, k changes.
 */
export function applyChangeSet(result, events) {
  const changes = sortOut(events);
  let sections = result.sections.slice();
  rebuild(sections, changes.taken, withoutPlaces);
  for (const [index] of changes.deletedSections) {
    const left = sectionAt(sections, index).records.length;
    if (left > 0) refuse(`section ${index} holds ${left} records`);
  }
  sections = withoutPlaces(sections, changes.deletedSections);
  sections = withPlaced(sections, changes.insertedSections);
  rebuild(sections, changes.placed, withPlaced);
  rebuild(sections, changes.updated, withReplaced);
  return { sections };
}

function rebuild(sections, changes, make) {
  for (const [index, entries] of changes) {
    const section = sectionAt(sections, index);
    sections[index] = { ...section, records: make(section.records, entries) };
  }
}

/** Record changes by what is done with them, then by section. */
function sortOut(events) {
  const [taken, placed, updated] = [new Map(), new Map(), new Map()];
  const [deletedSections, insertedSections] = [[], []];
  for (const { event, data: { type, section, name, indexTitle, indexPath, newIndexPath, record } } of events) {
    switch (`${event} ${type}`) {
      case "sectionChange deletion": deletedSections.push([section]); break;
      case "sectionChange insertion": insertedSections.push([section, { name, indexTitle, records: [] }]); break;
      case "change deletion": file(taken, indexPath); break;
      case "change move": file(taken, indexPath); // falls through
      case "change insertion": file(placed, newIndexPath, record); break;
      case "change update": file(updated, newIndexPath, record); break;
      default: refuse(`“${event}” of type “${type}” is no part of a change set`);
    }
  }
  return { taken, placed, updated, deletedSections, insertedSections };
}

function file(bySection, indexPath, record) {
  const [section, item, ...more] = indexPath ?? [];
  const isPath = Number.isInteger(section) && Number.isInteger(item) && more.length === 0;
  if (!isPath) refuse(`“${indexPath}” is no index path`);
  if (!bySection.has(section)) bySection.set(section, []);
  bySection.get(section).push([item, record]);
}

function sectionAt(sections, index) {
  return sections[index] ?? refuse(`there is no section ${index}`);
}

/** Without what stands at each `[place]`. One that is missing or named twice is never passed. */
function withoutPlaces(list, places) {
  if (!places.length) return list;
  const sorted = places.map(([place]) => place).sort((a, b) => a - b);
  let passed = 0;
  const kept = list.filter((_, place) => place !== sorted[passed] || (passed++, false));
  if (passed < sorted.length) refuse(`nothing to take out at ${sorted[passed]}`);
  return kept;
}

/** With each `[place, element]` put in; places count in the list that comes out. */
function withPlaced(list, placed) {
  if (!placed.length) return list;
  const merged = [];
  let next = 0;
  for (const [place, element] of [...placed].sort((a, b) => a[0] - b[0])) {
    const between = place - merged.length;
    if (!(between >= 0 && next + between <= list.length)) refuse(`nothing can be put in at ${place}`);
    while (merged.length < place) merged.push(list[next++]);
    merged.push(element);
  }
  while (next < list.length) merged.push(list[next++]);
  return merged;
}

function withReplaced(list, updates) {
  const copy = list.slice();
  for (const [place, element] of updates) {
    if (!(place in list)) refuse(`nothing to update at ${place}`);
    copy[place] = element;
  }
  return copy;
}
