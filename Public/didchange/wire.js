/** From the JSON of the wire to records that know their key. */

// Out of sight of Object.keys and JSON; a Map would cost several times as much.
const keySymbol = Symbol("key");

/** What identifies a record between two results; null for a query without a key. */
export const keyOf = (record) => record[keySymbol] ?? null;

export function keyed({ key, record }) {
  if (record) record[keySymbol] = key ?? null;
  return record;
}

/** Integers that a double cannot hold become BigInt, where the reviver is shown the source text. */
export function parse(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_, value, context) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
      ? BigInt(context.source) : value);
}

/** A value as the key of a Map: JSON has no word for BigInt. */
export const textOf = (value) => JSON.stringify(value, (_, part) =>
  (typeof part === "bigint" ? String(part) : part));

/** The sections of a snapshot, each with its part of the records. */
export const sectionsOf = (sections, records) =>
  sections.map(({ name, indexTitle, offset, numberOfRecords }) =>
    ({ name, indexTitle, records: records.slice(offset, offset + numberOfRecords) }));

/** The problem of a module that could not be loaded. */
export const missing = (cause) =>
  ({ reason: "module", title: "A file of the client module cannot be loaded", detail: cause.message, cause });

export const countOf = ({ sections }) =>
  sections.reduce((sum, { records }) => sum + records.length, 0);
