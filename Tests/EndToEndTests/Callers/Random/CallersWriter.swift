/// Another process that writes transactions, and says after each what every caller may see then.
final class CallersWriter {
  /// What each caller may see of each query: the records, or the status of a refusal.
  typealias Truth = JSONValue

  private let process: ChildProcess

  init(_ path: String, callers: [String]) throws {
    let digests = callers.flatMap { [$0, Shop.digest(Shop.token($0))] }
    process = try ChildProcess("python3", ["-u", "-c", Self.program, path] + digests)
  }

  /// Has a transaction committed, and does not wait until it is.
  func begin(_ sql: String) throws { try process.write(sql + "\n") }

  /// Waits for the transaction that was begun.
  func end() throws -> Truth {
    guard let line = try process.output.next() else {
      throw ContractViolation("the writer has ended: \(try process.errors.rest())")
    }
    return try JSONValue(parsing: line)
  }

  /// It knows nothing of the server: plain SELECTs with the claims as they are in the database.
  private static let program = #"""
    import json, sqlite3, sys
    connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
    connection.execute("PRAGMA synchronous = OFF").fetchall()
    callers = dict(zip(sys.argv[2::2], sys.argv[3::2]))

    def rows(sql, *values):
        cursor = connection.execute(sql, values)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row)) for row in cursor]

    def seen(digest):
        session = rows("SELECT user, role, level, expires FROM session WHERE token = ?", digest)
        if not session or session[0]["expires"] == 1:
            return {name: 401 for name in ("session", "orders", "shelf", "ledger")}
        user, role, level = (session[0][name] for name in ("user", "role", "level"))
        isCustomer = role in ("customer", "admin") and user is not None
        return {
            "session": [],
            "orders": rows("SELECT * FROM purchase WHERE customer = ? ORDER BY item, id", user)
                if isCustomer else 403,
            "shelf": rows("SELECT id, name FROM product WHERE level <= ? ORDER BY id", level)
                if level is not None else 403,
            "ledger": rows("SELECT * FROM purchase ORDER BY id") if role == "admin" else 403,
        }

    for line in sys.stdin:
        connection.execute("BEGIN IMMEDIATE")
        for statement in line.split(";"): connection.execute(statement)
        connection.execute("COMMIT")
        # Nobody else writes: this is the state of that commit.
        connection.execute("BEGIN")
        truth = {name: seen(digest) for name, digest in callers.items()}
        connection.execute("COMMIT")
        print(json.dumps(truth), flush=True)
    """#
}
