// What every caller may see after each of a run's transactions, as a process knows it that has never
// heard of the server.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";

export const digest = (token) => createHash("sha256").update(token).digest("hex");

/** Plain SELECTs with the claims as they are in the database. */
const program = `
import json, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
connection.execute("PRAGMA synchronous = OFF").fetchall()
callers = dict(zip(sys.argv[2::2], sys.argv[3::2]))
names = ("orders", "shelf", "ledger", "notices")

def rows(sql, *values):
    cursor = connection.execute(sql, values)
    columns = [column[0] for column in cursor.description]
    return [dict(zip(columns, row)) for row in cursor]

def seen(digest):
    session = rows("SELECT user, role, level, expires FROM session WHERE token = ?", digest)
    if not session or session[0]["expires"] == 1:
        return {name: 401 for name in names}
    user, role, level = (session[0][name] for name in ("user", "role", "level"))
    isCustomer = role in ("customer", "admin") and user is not None
    return {
        "orders": rows("SELECT * FROM purchase WHERE customer = ? ORDER BY kind, item, id", user)
            if isCustomer else 403,
        "shelf": rows("SELECT id, name FROM product WHERE level <= ? ORDER BY id", level)
            if level is not None else 403,
        "ledger": rows("SELECT * FROM purchase ORDER BY id") if role == "admin" else 403,
        "notices": notices(),
    }

def notices(): return rows("SELECT * FROM notice ORDER BY id")

for line in sys.stdin:
    connection.execute("BEGIN IMMEDIATE")
    for statement in line.split(";"): connection.execute(statement)
    connection.execute("COMMIT")
    # Nobody else writes: this is the state of that commit.
    connection.execute("BEGIN")
    truth = {name: seen(digest) for name, digest in callers.items()}
    truth[""] = {name: notices() if name == "notices" else 401 for name in names}
    connection.execute("COMMIT")
    print(json.dumps(truth), flush=True)
`;

/** Another process, which writes transactions and says after each what every caller may see then. */
export class Writer {
  #process;
  #lines;

  constructor(path, tokens) {
    const callers = tokens.flatMap((token) => [token, digest(token)]);
    this.#process = spawn("python3", ["-u", "-c", program, path, ...callers],
      { stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  /** Has a transaction committed, of statements on one line, and does not wait until it is. */
  begin(sql) { this.#process.stdin.write(`${sql}\n`); }

  /** Waits for the transaction that was begun. */
  async end() {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("the writer has ended");
    return JSON.parse(value);
  }

  async stop() {
    this.#process.kill();
    if (this.#process.exitCode === null && this.#process.signalCode === null) await once(this.#process, "exit");
  }
}

export class History {
  #truths = [];
  /** Whether there was no server since all was last as it should be. */
  wasAway = false;

  /** The number of the last transaction, from 0; the table `clock` has it too. */
  get last() { return this.#truths.length - 1; }

  /** By token (`""` is nobody), then by query: the records, or the status of a refusal. */
  append(truth) { this.#truths.push(truth); }

  /** As JSON. */
  at(index, token, query, window = null) {
    const truth = this.#truths[index][token ?? ""][query];
    if (!window || !Array.isArray(truth)) return JSON.stringify(truth);
    return JSON.stringify(truth.slice(window.offset, window.offset + window.limit));
  }

  /** The first transaction from `first` on after which this was so; undefined: none. */
  find(json, first, ...asked) {
    for (let index = first; index <= this.last; index++) {
      if (this.at(index, ...asked) === json) return index;
    }
  }
}
