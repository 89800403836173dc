/**
 * Which part of a long result is drawn: a browser lays out some hundred rows in milliseconds and a
 * hundred thousand in many seconds. The page draws the beginning of each section and counts the rest.
 */

const maximumRows = 500;
const maximumSections = 100;
/** Coarse, so that a record more or less does not change how much of every section is drawn. */
const steps = [500, 250, 100, 50, 25, 10, 5];

/** How many records of each section are drawn at most, given how many there are in each. */
export function rowsPerSection(sizes) {
  const drawn = (step) => sizes.reduce((sum, size) => sum + Math.min(size, step), 0);
  return steps.find((step) => drawn(step) <= maximumRows) ?? steps.at(-1);
}

/** The sections to draw, each with the records to draw, and how many sections are left. */
export function visiblePart(sections) {
  const drawn = sections.slice(0, maximumSections);
  const limit = rowsPerSection(drawn.map(({ records }) => records.length));
  return {
    sections: drawn.map(({ name, records }) =>
      ({ name, size: records.length, records: records.slice(0, limit) })),
    sectionsLeft: sections.length - drawn.length,
  };
}
