import GRDB
import OrderedResults
import QueryAnalysis

@testable import FetchedRecords

extension RandomWorld.Case {
  /// What the query returns, by a SELECT that the engine did not write, cut into sections here.
  func plainSelect(in db: Database) throws -> [ShownSection] {
    var sections: [ShownSection] = []
    let hasSections = definition.section != nil
    let statement = try db.cachedStatement(sql: oracle)
    statement.bind([:])
    while try statement.step(in: db) {
      let values = (0..<Int32(statement.columnCount)).map(statement.value(at:))
      let name = values[0].sectionName
      if sections.isEmpty || (hasSections && sections[sections.count - 1].name != name) {
        sections.append(ShownSection(name: name, records: []))
      }
      sections[sections.count - 1].records.append(Array(values.dropFirst()))
    }
    return hasSections || !sections.isEmpty ? sections : [ShownSection(name: .null, records: [])]
  }
}

extension Value {
  /// A section's name: an integral real is the integer that SQLite takes it to equal.
  fileprivate var sectionName: Value {
    if case .real(let real) = self, let integer = Int64(exactly: real) { return .integer(integer) }
    return self
  }
}
