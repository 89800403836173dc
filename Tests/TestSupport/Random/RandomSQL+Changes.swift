// Statements that change rows.
extension RandomSQL {
  package mutating func change() -> String {
    switch random.number(0...23) {
    case 0...3: playerChange()
    case 4...7: playerRows()
    case 8...12: blobChange()
    case 13, 14: family()
    case 15, 16: keyed()
    case 17, 22: withoutRowID()
    case 18: tiny()
    case 19, 20: extra()
    case 21: document()
    default: playerChange()
    }
  }

  private mutating func id() -> Int { random.number(1...random.pick([10, 120, 400])) }

  /// A random text of a random size, as an expression.
  mutating func text() -> String {
    "'\(random.pick(["ann", "bob", "cid", "dora", "eve"]))\(random.number(0...9999))'"
  }

  mutating func value() -> String {
    switch random.number(0...6) {
    case 0: "NULL"
    case 1: "\(random.number(-5...5))"
    case 2: "\(random.number(-900_000_000_000...900_000_000_000))"
    case 3: "\(random.number(0...99)).5"
    case 4: "x'\(String(random.number(16...255), radix: 16))'"
    default: text()
    }
  }

  /// Bytes that may or may not fit on a page, from few to many pages.
  mutating func bytes() -> String {
    let size = random.pick([20, 300, 900, 2000, 5000, 9000, 40_000])
    let exact = random.number(size / 2...size)
    return random.once(in: 3)
      ? "zeroblob(\(exact))"
      : "CAST(printf('%.*c', \(exact), '\(random.pick(["a", "b"]))') AS BLOB)"
  }

  private mutating func playerChange() -> String {
    switch random.number(0...9) {
    case 0:
      "INSERT OR REPLACE INTO player VALUES (\(id()), \(text()), \(value()), \(value()), NULL)"
    case 1: "INSERT INTO player (name, score, team) VALUES (\(text()), \(value()), \(value()))"
    case 2: "UPDATE player SET score = \(value()) WHERE id = \(id())"
    case 3: "UPDATE player SET name = \(text()), team = \(value()) WHERE id = \(id())"
    case 4: "UPDATE OR IGNORE player SET id = \(id()) WHERE id = \(id())"
    case 5: "UPDATE OR REPLACE player SET id = \(id()) WHERE id = \(id())"
    case 6: "DELETE FROM player WHERE id = \(id())"
    case 7: "INSERT INTO player (id, name) VALUES (\(bigID()), \(text()))"
    case 8:
      "UPDATE player SET note = printf('%.*c', \(random.number(0...600)), 'n') WHERE id = \(id())"
    default:
      "INSERT INTO player (id, name) VALUES (\(id()), \(text())) ON CONFLICT (id) "
        + "DO UPDATE SET name = excluded.name, score = 7"
    }
  }

  private mutating func bigID() -> String {
    random.pick([
      "9223372036854775807", "-9223372036854775808", "-\(id())", "\(id())000000000", "NULL",
    ])
  }

  private mutating func playerRows() -> String {
    let (low, size) = (id(), random.number(1...200))
    return switch random.number(0...11) {
    case 0, 1:
      "INSERT OR IGNORE INTO player (id, name, score) WITH RECURSIVE c(n) AS (SELECT \(low) UNION "
        + "ALL SELECT n + 1 FROM c WHERE n < \(low + size)) SELECT n, 'p' || n, n / 2.0 FROM c"
    case 2: "UPDATE player SET score = score + 1 WHERE id BETWEEN \(low) AND \(low + size)"
    case 3: "UPDATE player SET team = \(value()) WHERE id % \(random.number(2...9)) = 0"
    case 4: "DELETE FROM player WHERE id BETWEEN \(low) AND \(low + size)"
    case 5: "UPDATE OR IGNORE player SET id = id + \(random.number(1...50)) WHERE id > \(low)"
    case 6: random.once(in: 6) ? "DELETE FROM player" : "DELETE FROM log WHERE id % 2 = 0"
    case 7: "UPDATE player SET name = name"
    case 8: "DELETE FROM player WHERE abs(id) > 100000"
    case 9: "DELETE FROM log"
    case 10: "INSERT INTO log (what) SELECT name FROM player LIMIT \(size)"
    default: "UPDATE player SET note = NULL"
    }
  }

  private mutating func blobChange() -> String {
    let id = random.number(1...40)
    return switch random.number(0...9) {
    case 0...3: "INSERT OR REPLACE INTO blob VALUES (\(id), \(bytes()), \(text()))"
    case 4: "UPDATE blob SET body = \(bytes()) WHERE id = \(id)"
    case 5:
      // The same size, another end: only overflow pages change.
      "UPDATE blob SET body = CAST(substr(body, 1, length(body) - 9) || 'end\(random.number(100_000...999_999))' "
        + "AS BLOB) WHERE id = \(id) AND length(body) > 9"
    case 6: "UPDATE blob SET tag = \(text()) WHERE id = \(id)"
    case 7: "DELETE FROM blob WHERE id = \(id)"
    case 8: random.once(in: 5) ? "DELETE FROM blob" : "DELETE FROM blob WHERE id % 3 = \(id % 3)"
    default: "UPDATE OR REPLACE blob SET id = \(random.number(1...40)) WHERE id = \(id)"
    }
  }

  private mutating func family() -> String {
    let id = random.number(1...30)
    return switch random.number(0...6) {
    case 0: "INSERT OR IGNORE INTO parent VALUES (\(id), \(text()))"
    case 1: "DELETE FROM parent WHERE id = \(id)"
    case 2: "UPDATE OR IGNORE parent SET id = \(random.number(1...30)) WHERE id = \(id)"
    case 3: "UPDATE parent SET name = \(text()) WHERE id = \(id)"
    default: "INSERT INTO child (parent, text) SELECT id, \(text()) FROM parent WHERE id >= \(id)"
    }
  }

  private mutating func keyed() -> String {
    let code = random.number(1...60)
    return switch random.number(0...3) {
    case 0: "INSERT OR REPLACE INTO keyed VALUES ('k\(code)', \(value()))"
    case 1: "REPLACE INTO keyed (rowid, code) VALUES (\(code), 'k\(random.number(1...60))')"
    case 2: "UPDATE OR REPLACE keyed SET code = 'k\(random.number(1...60))' WHERE code = 'k\(code)'"
    default: "DELETE FROM keyed WHERE code = 'k\(code)'"
    }
  }

  private mutating func tiny() -> String {
    switch random.number(0...3) {
    case 0: "INSERT INTO tiny VALUES (\(value()), \(value()))"
    case 1: "UPDATE tiny SET b = \(value()) WHERE rowid = \(random.number(1...9))"
    case 2: "DELETE FROM tiny WHERE rowid > \(random.number(3...9))"
    default:
      "UPDATE tiny SET rowid = \(random.number(1...20)) WHERE rowid = \(random.number(1...9))"
    }
  }

  private mutating func extra() -> String {
    let table = "x\(random.number(1...3))"
    return switch random.number(0...4) {
    case 0, 1: "INSERT OR REPLACE INTO \(table) (id, a) VALUES (\(id()), \(value()))"
    case 2: "INSERT OR IGNORE INTO \(table) (a, b) SELECT id, name FROM player WHERE id < \(id())"
    case 3: "UPDATE \(table) SET a = a || 'z' WHERE a % 3 = 1"
    default: "DELETE FROM \(table) WHERE a IS NULL OR a % 5 = 2"
    }
  }

  private mutating func document() -> String {
    guard hasFullTextSearch else { return tiny() }
    return switch random.number(0...2) {
    case 0: "INSERT INTO doc VALUES (\(text()), \(text()))"
    case 1: "UPDATE doc SET body = \(text()) WHERE rowid = \(random.number(1...9))"
    default: "DELETE FROM doc WHERE rowid = \(random.number(1...9))"
    }
  }
}
