/** The words of the client. Browsers never load this file; editors and type checkers do. */

/** A column's value. BigInt: an integer beyond 2^53, where the browser can tell. */
export type Value = null | number | bigint | string | { base64: string };

/** One row: column → value. */
export type FetchedRecord = { [column: string]: Value };

export type IndexPath = [section: number, item: number];

export interface Section {
  name: Value;
  indexTitle: string | null;
  records: FetchedRecord[];
}

export interface Result {
  sections: Section[];
}

export interface SectionChange {
  type: "insertion" | "deletion";
  /** Counted in the new result for an insertion, in the old one for a deletion. */
  section: number;
  name: Value;
  indexTitle: string | null;
}

export interface RecordChange {
  type: "insertion" | "deletion" | "move" | "update";
  /** In the old result: for all but an insertion. */
  indexPath?: IndexPath;
  /** In the new result: for all but a deletion. */
  newIndexPath?: IndexPath;
  key?: Value[] | null;
  /** The old values of the columns that differ: for a move or an update. */
  changes?: { [column: string]: Value };
  /** The new one; the old one for a deletion. */
  record: FetchedRecord;
}

export type ChangeEvent =
  | { event: "sectionChange"; data: SectionChange }
  | { event: "change"; data: RecordChange };

/** `stale`: there is a result but no connection; `closed`: for good. */
export type State = "connecting" | "live" | "stale" | "closed";

/** What a query's description says, `GET /v1/queries/{query}`. */
export interface Query {
  name: string;
  title?: string | null;
  parameters: { name: string; type: "text" | "integer" | "real" | "blob"; default?: Value }[]; // without a default it must be given
  columns: string[];
  key: string[] | null;
  section?: string | null;
  sql?: string;
  tracking?: "incremental" | "refetch";
  trackingReason?: string | null;
  /** Why the query cannot run; it has no columns then. */
  problem?: string;
}

/** RFC 9457. */
export interface Problem {
  type?: string;
  title: string;
  status?: number;
  detail?: string;
}
