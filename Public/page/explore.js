/** What a SELECT is in an address, in a message about it, and in a configuration. */

import { writeRoute } from "./route.js";

/** No query of a configuration can have a colon in its name. */
export const addressOfExploration = (sql) => writeRoute({ query: "explore:", parameters: sql ? { sql } : {} });

/** `[line, column]` where a problem begins with it, as in `1:8: no such column: nam`. */
export function placeOf(detail) {
  const match = /^(\d+):(\d+): /.exec(detail);
  return match && match.slice(1).map(Number);
}

/** The word at a line and a column, which are counted from 1, and in characters, of which some are two of JavaScript's. */
export function rangeOf(text, line, column) {
  const lines = text.trimStart().split("\n");
  const blanks = text.length - text.trimStart().length;
  const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, blanks);
  const start = before + [...lines[line - 1] ?? ""].slice(0, column - 1).join("").length;
  const [word] = /^(\w+|.?)/s.exec(text.slice(start));
  return [start, start + word.length];
}

/**
 * A configuration that has the SELECT as a query: `didchange check DATABASE --config FILE` takes it.
 *
 * @param name of the query, of which what fits into a URL is left
 */
export function configurationOf(sql, name) {
  const word = name.replace(/[^\w.~-]+/g, "-").replace(/^[-.]+|-+$/g, "") || "explored";
  const text = sql.trim().replace(/;\s*$/, "").replace(/\r\n?/g, "\n");
  // YAML 1.2 §8.1.2, unless it has what a block cannot say: §5.1, §5.4.
  const isPlain = !/[^\n\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\uffef\u{10000}-\u{10ffff}]/u.test(text);
  const value = isPlain ? `|\n${text.replace(/^(?=.)/gm, "      ")}` : quoted(text);
  return `queries:\n  ${/^[\d.~-]|^(true|false|null|yes|no|on|off)$/i.test(word) ? quoted(word) : word}:\n    sql: ${value}\n`;
}

/** JSON is YAML, but for what JSON lets stand as it is. */
const quoted = (text) => JSON.stringify(text)
  .replace(/[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
