import TestSupport

/// What is done to the files of a database, in the words of a ``FileOperator``.
extension RandomSource {
  /// One of all operations, of one word or several.
  mutating func fileOperation() -> [String] {
    switch number(0...19) {
    case 0: return ["run \(transaction())"]
    case 1: return ["run BEGIN; \(change()); \(change()); ROLLBACK"]
    case 2:
      let mode = pick(["PASSIVE", "FULL", "RESTART", "TRUNCATE"])
      return ["run PRAGMA wal_checkpoint(\(mode))"]
    case 3: return ["run VACUUM"]
    // Nobody can leave write-ahead mode while the server runs: that is refused, and does no harm.
    case 4: return ["run PRAGMA journal_mode = \(journalMode())"]
    case 5: return [backup(), "restore"]
    case 6: return [backup()] + replacing(by: "moveIn main")
    case 7: return [backup()] + replacing(by: "copyIn main")
    case 8:
      let files = pick(["main log", "log", "log main"])
      return [backup(), "\(pick(["moveIn", "copyIn"])) \(files)"]
    case 9: return ["remove \(pick(["log", "index", "log index", "index log"]))"]
    case 10: return ["remove \(pick(["main", "main log index", "log main", "main index log"]))"]
    case 11:
      let files = pick(["main", "log", "index", "log index", "main log index", "index main"])
      return ["awayAndBack \(number(0...120)) \(files)"]
    case 12: return ["truncate \(pick(["main", "log"])) \(number(0...100))"]
    case 13: return ["switch"]
    case 14: return ["moveFolder \(number(0...120))"]
    case 15: return ["kill \(number(1...60))"]
    case 16: return ["kill \(number(20...60))", "remove journal"]
    case 17: return ["held \(pick(["remove log", "remove index", "remove log index"]))"]
    case 18: return once(in: 3) ? ["garbage"] : ["mode \(pick(["000", "400", "644"]))"]
    default: return ["sleep \(number(0...60))", "run \(transaction())", "run \(transaction())"]
    }
  }

  /// One after which a new connection can read the database, whatever was there before.
  mutating func mendingOperation() -> [String] {
    let make = "makeBackup \(journalMode()) \(number(1...900)) \(number(1...90))"
    switch number(0...2) {
    case 0: return [make, "remove log index journal", "moveIn main"]
    case 1: return [make, "moveIn main", "sleep \(number(0...30))", "remove log index journal"]
    default: return [make, "remove journal log index", "copyIn main"]
    }
  }

  private mutating func backup() -> String {
    pick([
      "makeBackup \(journalMode()) \(number(1...900)) \(number(1...90))",
      "vacuumInto \(journalMode())", "copyOut main", "copyOut main log",
    ])
  }

  /// The log of the old file stays, or goes before or after.
  private mutating func replacing(by words: String) -> [String] {
    switch number(0...3) {
    case 0: return [words]
    case 1: return ["remove log index", words]
    case 2: return [words, "remove log index"]
    default: return [words, "sleep \(number(0...80))", "remove index log"]
    }
  }

  private mutating func journalMode() -> String { pick(["wal", "delete", "truncate", "persist"]) }

  private mutating func transaction() -> String {
    let changes = (0..<number(1...4)).map { _ in change() }
    return "BEGIN IMMEDIATE; " + changes.joined(separator: "; ") + "; COMMIT"
  }

  private mutating func change() -> String {
    switch number(0...3) {
    case 0: "INSERT INTO item (text) SELECT hex(randomblob(\(number(1...700))))"
    case 1: "UPDATE item SET text = 'changed \(number(1...99))' WHERE id % \(number(2...9)) = 0"
    case 2: "DELETE FROM item WHERE id % \(number(5...20)) = 1"
    default: "INSERT OR REPLACE INTO item VALUES (\(number(1...999)), 'again')"
    }
  }
}
