// Statements that change rows of tables WITHOUT ROWID.
extension RandomSQL {
  mutating func withoutRowID() -> String {
    switch random.number(0...8) {
    case 0, 1: plain()
    case 2, 3: wide()
    case 4...7: mixed()
    default: long()
    }
  }

  static let tablesWithoutRowID = [
    "CREATE TABLE plain (a TEXT, b INTEGER, c, PRIMARY KEY (a, b)) WITHOUT ROWID",
    "CREATE TABLE wide (k INTEGER PRIMARY KEY, body BLOB) WITHOUT ROWID",
    """
    CREATE TABLE mixed (c, a TEXT COLLATE NOCASE, b REAL, d, e TEXT COLLATE RTRIM, \
    PRIMARY KEY (b DESC, a, e, d, a)) WITHOUT ROWID
    """,
    "CREATE INDEX mixed_c ON mixed (c)",
    "CREATE TABLE long (a PRIMARY KEY, b) WITHOUT ROWID",
  ]

  private mutating func plain() -> String {
    let key = random.number(1...40)
    return switch random.number(0...3) {
    case 0, 1: "INSERT OR REPLACE INTO plain VALUES ('a\(key % 5)', \(key), \(value()))"
    case 2: "UPDATE plain SET c = \(value()) WHERE b = \(key)"
    default: "DELETE FROM plain WHERE b % 4 = \(key % 4)"
    }
  }

  private mutating func wide() -> String {
    let key = random.number(1...12)
    return switch random.number(0...3) {
    case 0, 1: "INSERT OR REPLACE INTO wide VALUES (\(key), \(bytes()))"
    case 2:
      "UPDATE wide SET body = CAST(substr(body, 1, length(body) - 3) || '\(random.number(100...999))' AS BLOB) "
        + "WHERE k = \(key) AND length(body) > 3"
    default: "DELETE FROM wide WHERE k = \(key)"
    }
  }

  /// Keys of several columns, many of which are equal and look otherwise, in b-trees of several levels.
  private mutating func mixed() -> String {
    let number = random.number(0...200)
    let text = random.pick([
      "'a'", "'A'", "'b' || char(0) || 'c'", "'b' || char(0) || 'D'",
    ])
    let other = random.pick(["'e'", "'e '", "''", "' '"])
    let key = random.pick(["1", "1.0", "'1'", "x'31'", "1.5", "0", "-0.0"])
    return switch random.number(0...8) {
    case 0, 1:
      "REPLACE INTO mixed VALUES (\(value()), \(text), \(number % 20), \(key), \(other))"
    case 2, 3:
      """
      INSERT OR REPLACE INTO mixed \
      WITH RECURSIVE n(n) AS (SELECT \(number) UNION ALL SELECT n + 1 FROM n WHERE n < \(number + 60)) \
      SELECT \(value()), \(text) || n % 7, n / 2.0, \(key), printf('%.*c', n % 30, 'e') FROM n
      """
    case 4: "UPDATE OR REPLACE mixed SET a = upper(a) WHERE b < \(number)"
    case 5: "UPDATE OR IGNORE mixed SET d = \(key) WHERE b > \(number / 2)"
    case 6: "UPDATE mixed SET c = \(bytes()) WHERE b = \(number / 2)"
    case 7: "DELETE FROM mixed WHERE b BETWEEN \(number / 2) AND \(number)"
    default: "DELETE FROM mixed WHERE d = \(key) AND b % 3 = \(number % 3)"
    }
  }

  /// Keys that may not fit on a page.
  private mutating func long() -> String {
    let key = random.pick(["\(bytes())", "\(value())", "'k\(random.number(1...9))'"])
    return switch random.number(0...2) {
    case 0: "INSERT OR REPLACE INTO long SELECT \(key), \(bytes()) WHERE \(key) IS NOT NULL"
    case 1: "UPDATE long SET b = \(value()) WHERE a >= \(key)"
    default: "DELETE FROM long WHERE a >= \(key)"
    }
  }
}
