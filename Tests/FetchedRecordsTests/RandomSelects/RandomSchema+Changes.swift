import TestSupport

extension RandomSchema {
  /// What changes the schema, or what the planner knows of it, while a query is followed: of its tables, of others,
  /// or of what it reads by a view.
  func definition(using random: inout RandomSource) -> String {
    let table = random.pick(tables)
    let column = random.pick(table.columns).name
    return switch random.number(0...8) {
    case 0: "CREATE TABLE other (a, b); INSERT INTO other VALUES (1, 2)"
    case 1: "DROP TABLE other"
    case 2: "CREATE INDEX other_a ON other (a)"
    case 3: "CREATE INDEX \(table.name)_x\(column) ON \(table.name) (\(column))"
    case 4: "DROP INDEX \(table.name)_\(random.pick(["", "x"]))\(column)"
    case 5: "ANALYZE \(random.pick(["", table.name]))"
    case 6:
      """
      CREATE TRIGGER \(table.name)_t AFTER DELETE ON \(table.name) BEGIN
        DELETE FROM \(random.pick(tables).name) WHERE \(table.columns[0].name) = 2; END
      """
    case 7: "ALTER TABLE \(table.name) RENAME TO moved; ALTER TABLE moved RENAME TO \(table.name)"
    default: changedView(using: &random) ?? "DROP TRIGGER \(table.name)_t"
    }
  }

  /// One of the views with fewer rows, or with all again.
  private func changedView(using random: inout RandomSource) -> String? {
    guard let view = views.randomElement(using: &random) else { return nil }
    let beginning = "CREATE VIEW \(view.name) AS "
    guard let definition = statements.first(where: { $0.hasPrefix(beginning) }) else { return nil }
    let condition =
      random.once(in: 2)
      ? "" : " WHERE \(random.pick(view.columns).name) IS NOT \(random.number(1...3))"
    return """
      DROP VIEW \(view.name);
      \(beginning)SELECT * FROM (\(definition.dropFirst(beginning.count)))\(condition)
      """
  }
}
