/** The types of didchange.js. Browsers never load this file; editors and type checkers do. */

/**
 * A column's value. BigInt: an integer beyond 2^53, where the browser can tell. Where the column has a
 * type: a boolean, a day or moment in ISO 8601, JSON, or where its bytes are, relative to the query.
 */
export type Value = null | number | bigint | string | { base64: string } | boolean | { url: string; bytes: number } | JSONValue;

export type JSONValue =
  null | boolean | number | bigint | string | readonly JSONValue[] | { readonly [name: string]: JSONValue };

/** One row: column → value. */
export type FetchedRecord = { readonly [column: string]: Value };

export type IndexPath = [section: number, item: number];

export interface Section<R = FetchedRecord> {
  readonly name: Value;
  readonly indexTitle: string | null;
  readonly records: readonly R[];
}

export interface Result<R = FetchedRecord> {
  readonly sections: readonly Section<R>[];
}

/** As LIMIT and OFFSET cut it out; `limit` is at most 10 000. */
export interface Window {
  offset?: number;
  limit?: number;
}

export interface SectionChange {
  type: "insertion" | "deletion";
  /** Counted in the new result for an insertion, in the old one for a deletion. */
  section: number;
  name: Value;
  indexTitle: string | null;
}

export interface RecordChange<R = FetchedRecord> {
  type: "insertion" | "deletion" | "move" | "update";
  /** In the old result: for all but an insertion. */
  indexPath?: IndexPath;
  /** In the new result: for all but a deletion. */
  newIndexPath?: IndexPath;
  key?: Value[] | null;
  /** The old values of the columns that differ: for a move or an update. */
  changes?: { [column: string]: Value };
  /** The new one; the old one for a deletion. */
  record: R;
  /** Of `controller.move`: the server has not said so. */
  isLocal?: true;
}

export type ChangeEvent =
  | { event: "sectionChange"; data: SectionChange }
  | { event: "change"; data: RecordChange };

/**
 * `connecting`: there is no result yet. `live`: what is shown is what the server has, which was heard from
 * within two heartbeats (32 s, and less where the server's are closer). `stale`: there is a result, and
 * no such connection. `closed`: by `close()`, for good; by a refusal, until
 * other parameters, another order or another window are set. For good: `signedOut`, after a 401 and
 * without another token; `forbidden`, after a 403. After these two the records are gone (a `snapshot`
 * of none tells): make a new controller once somebody has signed in.
 */
export type State = "connecting" | "live" | "stale" | "closed" | "signedOut" | "forbidden";

/**
 * How changes come. `longPoll`: something between this page and the server holds streams back, as a
 * test of the connection has shown, or cuts them, twice within a minute and after the same time, while
 * the server was there (one that dies, or two behind a balancer in turn, do not do it so regularly); so
 * changes are asked for, one request a query, four at a time, which the server answers when there is
 * something new. With more than four queries news take some seconds. Streams are tried again after ten
 * minutes, and by pages that are opened when no other page of this origin uses the module any more.
 * Over plain HTTP also while more than five streams would be needed, one for each who asks: a browser
 * has six connections to a server then, and all who ask share them.
 */
export type Transport = "stream" | "longPoll";

/** Undefined values are left out. */
export interface Parameters {
  [name: string]: string | number | bigint | undefined;
}

/**
 * A token, or what gives one; nothing (or ""): nobody has signed in.
 *
 * A function is asked when a request needs a token, and what it gives is used until the server
 * answers 401; then it is asked once more, for another one: `expired` is true. If it gives none, the
 * same, or one that is refused too, the state is `signedOut`. If it throws, an `error` event has its
 * error as `cause`, and it is asked again later.
 */
export type Token = string | ((why: { expired: boolean }) => Given | Promise<Given>);
type Given = string | null | undefined;

/**
 * Who asks. Controllers share a connection and a result if their tokens are equal, and with nobody
 * else. Tokens are kept in memory only, that of the page and of the SharedWorker, and are in no address.
 *
 * Cookies go by themselves to the page's own origin. The module cannot see whose they are: an app
 * that signs somebody in over somebody else first closes its controllers, in all tabs.
 */
export interface Caller {
  /** Sent as `Authorization: Bearer`. Controllers that share a function share what it gives. */
  token?: Token;
  /** Sends cookies to another origin, which must name this one in `cors`. */
  withCredentials?: boolean;
}

/** What stands around a result. */
export interface Head {
  query: string;
  version: string;
  commit: number;
  numberOfRecords: number;
  totalNumberOfRecords?: number;
  alongside?: { [name: string]: Value };
}

/** RFC 9457; `detail` is for people, and says what to do. */
export interface Problem {
  type?: string;
  title: string;
  /** Of the server's answer, if there was one. */
  status?: number;
  detail?: string;
  /**
   * Where it is no answer of a didchange server: it cannot be reached (`unreachable`), answers and does not
   * let pages of this origin read (`cors`), is another server (`foreign`), has missed two heartbeats
   * (`silent`), or a file of this module could not be loaded (`module`).
   */
  reason?: "unreachable" | "cors" | "foreign" | "silent" | "module";
  /** What a token function, or the browser's loader, has thrown. */
  cause?: unknown;
}

export interface ControllerEvents<R = FetchedRecord> {
  snapshot: CustomEvent<Head>;
  willChange: CustomEvent<{ from: string; version: string; commit: number; numberOfChanges: number }>;
  sectionChange: CustomEvent<SectionChange>;
  change: CustomEvent<RecordChange<R>>;
  didChange: CustomEvent<Head & { from: string; numberOfSections: number }>;
  error: CustomEvent<Problem>;
  recovered: CustomEvent<{ version: string; commit: number }>;
  state: CustomEvent<State>;
  pending: CustomEvent<boolean>;
  transport: CustomEvent<Transport>;
}

export interface BindOptions<R = FetchedRecord> {
  /** A row in sight has changed. */
  changed?(node: HTMLElement, change: RecordChange<R>): void;
  /** All is drawn. */
  drawn?(): void;
  /**
   * Makes a row's content, or changes `node` (the row's present one) and returns it. `format` writes the
   * value of a column as `formats` say.
   */
  row(record: R, node: HTMLElement | undefined, format: (column: string) => Node | string): Node | string;
  /** The same for what stands above a section; without it nothing does. */
  section?(section: Section<R>, node?: HTMLElement): Node | string;
  signal?: AbortSignal;
  formats?: Formats;
  /** Column → type; where it is not told, what a value is: `text`, `number`, `boolean`, `json`, `blob`, `null`. */
  types?: { [column: string]: string };
}

/** How the values of columns of a type are written; `null` is one too. */
export interface Formats {
  [type: string]: (value: any, column: string, record: FetchedRecord) => Node | string;
}

/**
 * One live query, from now until `close()`.
 *
 * A change set makes a new result, which shares with the old one what it did not touch: `===` tells
 * what changed, and what was read from `sections` stays valid. Events have the JSON of the wire as
 * `detail`; those of a change set come when all of it is here: at `willChange` the properties still
 * show the old result, from then on the new one. `error`: the server cannot be had, told once until it can
 * be (it is asked on and on; the state says how things are), or the query failed (the result stays), or was
 * refused for good (the state is then `closed`, `signedOut` or `forbidden`), or the token function
 * failed. The page's console has each once, as a warning. `recovered`: a query that failed can be read again, and shows what it has shown.
 *
 * Integers beyond 2^53 are BigInt from Chrome 114, Firefox 135 and Safari 18.4 on, else rounded.
 */
export class FetchedRecordsController<R = FetchedRecord> extends EventTarget
  implements AsyncIterable<readonly Section<R>[]> {
  /** `url` is that of a query, relative to the page: `v1/queries/players`. */
  constructor(url: string | URL, options?: {
    parameters?: Parameters;
    /** One of the query's `orders`; without it the first. */
    order?: string | null;
    window?: Window | null;
  } & Caller);
  /** The address of this query's own event stream: for `curl -N`. */
  readonly url: string;
  readonly state: State;
  /** Whether what is shown is of other parameters or of another order than are asked for by now. */
  readonly isPending: boolean;
  readonly transport: Transport;
  readonly sections: readonly Section<R>[];
  /** All records in order: O(n) after a change, then O(1). */
  readonly fetchedRecords: readonly R[];
  readonly numberOfRecords: number;
  /** Those beyond the window too. */
  readonly totalNumberOfRecords: number;
  readonly sectionIndexTitles: string[];
  readonly version: string | undefined;
  readonly commit: number | undefined;
  readonly alongside: { readonly [name: string]: Value };
  /**
   * Set these three to ask for something else; all that is set in one frame is one request. What is
   * shown stays until the first change set of the new request is here: it leads from one to the other,
   * as if a commit had made the difference. Where the server cannot tell it, or it would be longer
   * than the whole, or another controller is shown the new request already, a `snapshot` comes.
   * A refusal leaves the records; the state is `closed` until something else is set.
   * Controllers that have gone on share a connection beside that of the others, which they do not disturb.
   */
  parameters: Parameters;
  order: string | null;
  window: Window | null;
  /** The address of a resource of this query, with its parameters: `records`, `sections`, … */
  address(resource: string): string;
  /** As the global `fetch`, by this controller's caller; for addresses of its server under `/v1/` only. */
  fetch(address: string | URL, init?: RequestInit): Promise<Response>;
  recordAt(indexPath: IndexPath): R | undefined;
  /** Where the record with that key is: O(n) after a change, then O(1). */
  indexPathFor(key: Value | Value[]): IndexPath | undefined;
  /**
   * Shows a record elsewhere before the server says so, as after drag and drop: as a change set of one
   * move, whose details have `isLocal`. The next change set, or the next one that comes after `request`
   * is fulfilled, or the next one that names the record, confirms it or takes it back. It is taken back
   * at once where `request` is rejected, or fulfilled with an answer that is not `ok`, and by what this returns.
   */
  move(key: Value | Value[], newIndexPath: IndexPath, request?: Promise<unknown>): () => void;
  /** Keeps a list in the document in step; what it returns stops it. Rows that move keep their focus. */
  bind(element: HTMLElement, options: BindOptions<R>): () => void;
  close(): void;
  /** The sections, now and after each change; who is slow gets the latest only. */
  [Symbol.asyncIterator](): AsyncGenerator<readonly Section<R>[], void, void>;
  addEventListener<K extends keyof ControllerEvents<R>>(
    type: K, listener: (event: ControllerEvents<R>[K]) => void,
    options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions): void;
  removeEventListener<K extends keyof ControllerEvents<R>>(
    type: K, listener: (event: ControllerEvents<R>[K]) => void,
    options?: boolean | EventListenerOptions): void;
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject | null,
    options?: boolean | EventListenerOptions): void;
}

/** For `VirtualList` of didchange/virtualList.js. */
export interface VirtualListOptions<R = FetchedRecord> {
  /** Fills a row, or empties it where the record is still on its way. */
  row(record: R | undefined, node: HTMLElement): void;
  section(section: { name: Value; indexTitle: string; numberOfRecords: number }, node: HTMLElement): void;
  /** Pixels, 36 by default. */
  rowHeight?: number;
  sectionHeight?: number;
  /** What assistive technology calls the list. */
  label?: string;
  /** Stands above the list, with the names of the columns. */
  head?: HTMLElement;
  /** A row in sight has changed. */
  changed?(node: HTMLElement, change: RecordChange<R>): void;
  /** All in sight is drawn. */
  drawn?(): void;
}

/** What identifies a record of a controller between two results; null for a query without a key. */
export function keyOf(record: FetchedRecord): Value[] | null;

/** The result that a change set makes of another: protocol, §3. */
export function applyChangeSet(result: Result, events: ChangeEvent[]): Result;

export class ChangeSetError extends Error {}

/** What `GET /v1/queries` says of a query; the last part, `GET /v1/queries/{query}`, and under callers to operators alone. */
export interface Query {
  name: string;
  title?: string | null;
  /** One without a default must be given. */
  parameters: { name: string; type: "text" | "integer" | "real" | "blob"; default?: Value }[];
  columns: string[];
  /** What columns mean beyond what they store; a BLOB's media type. */
  columnTypes?: { [column: string]: "boolean" | "date" | "datetime" | "json" | { blob: string } };
  /** Names for `order`, the default first. */
  orders?: string[];
  /** Column → which of the orders sort by it, for those that any does. */
  orderedBy?: { [column: string]: { ascending?: string; descending?: string } };
  key: string[] | null;
  section?: string | null;
  /** Why the query cannot run; it has no columns then. */
  problem?: string;

  sql?: string;
  tracking?: "incremental" | "refetch";
  trackingReason?: string | null;
  /** How SQLite runs it, as EXPLAIN QUERY PLAN tells. */
  plan?: string[];
  /**
   * What a commit to its tables costs: a search for each changed row and each record that it leads to, the
   * rows of each group that a changed row is in, or the whole query; `detail` says so in words.
   */
  commits?: { tables: string[]; cost: "search" | "running" | "window" | "partition" | "value" | "everything"; detail: string }[];
  /** How often it was kept up to date row by row, and run again; reason → how often it had to be. */
  refreshes?: { incremental: number; refetch: number; fallbacks: { [reason: string]: number } };
  /** Its live results, one for each set of arguments. */
  controllers?: {
    parameters: { [name: string]: Value };
    subscribers: number;
    version: string;
    commit: number;
    numberOfRecords: number;
    problem?: string;
  }[];
}
