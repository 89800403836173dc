/** From the JSON of the wire to records that know their key. */

/** @import {FetchedRecord, Result, Value} from "../didchange.d.ts" */

// A record carries its key out of sight of Object.keys and JSON; a Map from record to key would
// cost several times the eight bytes.
const keySymbol = Symbol("key");

/**
 * What identifies a record of a controller between two results; null for a query without a key.
 * @param {FetchedRecord} record
 * @returns {?Value[]}
 */
export function keyOf(record) {
  return record[keySymbol] ?? null;
}

/** Hangs the key that stands beside a record on the record. */
export function keyed({ key, record }) {
  if (record) record[keySymbol] = key ?? null;
  return record;
}

/**
 * JSON.parse, but integers that a double cannot hold become BigInt where the browser shows the
 * reviver a number's source text. It costs time: only texts with a long run of digits pay.
 */
export function parse(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_, value, context) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
      ? BigInt(context.source)
      : value);
}

/** @returns {Result} the result that a `snapshot` event holds */
export function resultOf(snapshot) {
  const records = snapshot.records.map(keyed);
  const sections = snapshot.sections.map(({ name, indexTitle, offset, numberOfRecords }) =>
    ({ name, indexTitle, records: records.slice(offset, offset + numberOfRecords) }));
  return { sections };
}
