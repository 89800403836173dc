import TestSupport

/// What a foreign connection does to a shop and its sessions.
extension RandomSource {
  static let callers = ["ann", "ann2", "bob", "cy", "dan", "eve"]

  static let callersSchema = """
    CREATE TABLE session (
      token TEXT PRIMARY KEY, user INTEGER, role TEXT, level INTEGER, expires INTEGER);
    CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer INTEGER, item TEXT, price INTEGER);
    CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT, level INTEGER);
    CREATE TABLE notice (id INTEGER PRIMARY KEY, text TEXT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
    INSERT INTO purchase SELECT i, 1 + i % 4, 'item ' || i, i FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
    INSERT INTO product SELECT i, 'product ' || i, 1 + i % 3 FROM n;
    """

  /// The statements of one transaction, on one line.
  mutating func callersTransaction() -> String {
    (0..<number(1...3)).map { _ in once(in: 2) ? sessionChange() : recordChange() }
      .joined(separator: "; ")
  }

  private mutating func sessionChange() -> String {
    let name = pick(Self.callers)
    switch number(0...9) {
    case 0, 1: return Shop.signOut(name)
    case 2, 3, 4:
      let values = "\(number(1...4)), '\(role())', \(number(0...3)), NULL"
      return Shop.signOut(name) + "; " + Shop.signIn(name, values)
    case 5: return Shop.change(name, "role = '\(role())'")
    case 6: return Shop.change(name, "user = \(number(1...4))")
    case 7: return Shop.change(name, "level = \(number(0...3))")
    case 8: return Shop.change(name, once(in: 2) ? "user = NULL" : "level = NULL")
    default: return Shop.change(name, "expires = \(pick(["NULL", "4000000000", "1"]))")
    }
  }

  private mutating func role() -> String { pick(["customer", "customer", "admin", "guest"]) }

  private mutating func recordChange() -> String {
    let text = "\(number(1000...9999))"
    switch number(0...7) {
    case 0, 1:
      return "UPDATE purchase SET item = 'item \(text)' WHERE id = \(number(1...40))"
    case 2, 3:
      return "UPDATE purchase SET customer = \(number(1...4)) WHERE id % 9 = \(number(0...8))"
    case 4: return "DELETE FROM purchase WHERE id = \(number(1...40))"
    case 5:
      return "INSERT OR REPLACE INTO purchase VALUES "
        + "(\(number(1...40)), \(number(1...4)), 'item \(text)', \(number(1...99)))"
    case 6: return "UPDATE product SET name = 'product \(text)' WHERE id = \(number(1...60))"
    default: return "UPDATE product SET level = \(number(1...3)) WHERE id = \(number(1...60))"
    }
  }
}
