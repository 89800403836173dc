import TestSupport

@testable import FetchedRecords

extension RandomWorld {
  // MARK: - Writes

  /// The statements of one transaction, and whether it is rolled back.
  static func transaction(using random: inout RandomSource) -> (sql: [String], isRolledBack: Bool) {
    let count =
      random.once(in: 12) ? Int.random(in: 5...40, using: &random) : random.pick([1, 1, 2, 3])
    return ((0..<count).map { _ in statement(using: &random) }, random.once(in: 10))
  }

  private static func statement(using random: inout RandomSource) -> String {
    let id = Int.random(in: 1...25, using: &random)
    let other = Int.random(in: 1...25, using: &random)
    let value = literal(using: &random)
    let second = literal(using: &random)
    switch Int.random(in: 0..<28, using: &random) {
    case 0, 1:
      return "INSERT OR REPLACE INTO author VALUES (\(id), \(text(using: &random)), \(value))"
    case 2, 3, 4:
      return "INSERT OR IGNORE INTO author VALUES (\(id), \(text(using: &random)), \(value))"
    case 5, 6:
      return """
        INSERT OR IGNORE INTO book SELECT \(other), \(id), \(text(using: &random)), \(value)
        WHERE EXISTS (SELECT 1 FROM author WHERE id = \(id))
        """
    case 7: return "UPDATE author SET country = \(value) WHERE id = \(id)"
    case 8: return "UPDATE author SET name = \(text(using: &random)) WHERE id = \(id)"
    case 9: return "UPDATE OR IGNORE author SET id = \(other) WHERE id = \(id)"
    case 10: return "UPDATE book SET price = \(value) WHERE id = \(id)"
    case 11:
      return "UPDATE book SET title = \(text(using: &random)), price = \(value) WHERE id < \(id)"
    case 12: return "DELETE FROM author WHERE id = \(id)"
    case 13: return "DELETE FROM book WHERE id = \(id)"
    case 14:
      return "INSERT OR REPLACE INTO pair VALUES (\(notNull(value)), \(notNull(second)), \(id))"
    case 15: return "UPDATE pair SET v = \(value) WHERE a = \(notNull(second))"
    case 16: return "DELETE FROM pair WHERE a = \(notNull(value))"
    case 17:
      return "INSERT OR REPLACE INTO loose VALUES (\(text(using: &random)), \(value), \(second))"
    case 18: return "UPDATE OR IGNORE loose SET v = \(value) WHERE w IS \(second)"
    case 19: return "DELETE FROM loose WHERE v IS \(value)"
    case 20, 21: return shelfStatement(id: id, other: other, using: &random)
    case 22, 23:
      return "UPDATE shelf SET n = \(other), bookId = \(other) WHERE id = \(id)"
    case 24: return "UPDATE shelf SET room = \(text(using: &random)) WHERE id = \(id)"
    case 25:
      return "INSERT OR REPLACE INTO room SELECT \(text(using: &random)), \(value) WHERE 1"
        .replacing("NULL", with: "'b'")
    case 26: return "INSERT INTO audit VALUES (\(id))"
    default:
      // The truncate optimisation: https://www.sqlite.org/lang_delete.html
      return random.once(in: 6)
        ? "DELETE FROM \(random.pick(["book", "pair", "loose", "shelf", "room"]))" : "SELECT 1"
    }
  }

  private static func shelfStatement(
    id: Int, other: Int, using random: inout RandomSource
  ) -> String {
    random.once(in: 5)
      ? "DELETE FROM shelf WHERE id = \(id)"
      : "INSERT OR REPLACE INTO shelf VALUES (\(id), \(other), \(text(using: &random)), "
        + random.pick(["NULL", "1", "2", "\(other)"]) + ")"
  }

  private static func notNull(_ literal: String) -> String { literal == "NULL" ? "0" : literal }

  private static func literal(using random: inout RandomSource) -> String {
    random.pick([
      "NULL", "0", "1", "2", "5", "1.0", "2.5", "-1", "''", "'a'", "'A'", "'b'", "x''", "x'61'",
      "9007199254740993", "9007199254740992.0", "'a' || char(0) || 'b'",
    ])
  }

  private static func text(using random: inout RandomSource) -> String {
    random.pick([
      "NULL", "''", "'a'", "'A'", "'b'", "'B '", "'ä'", "'zoë'", "'a''b'", "'x' || char(10)",
      "char(0x1F600)", "char(0xFFFD)",
    ])
  }
}
