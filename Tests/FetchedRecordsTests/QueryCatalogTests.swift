import GRDB
import QueryAnalysis
import TestSupport
import Testing

@testable import FetchedRecords

@Suite struct `A catalog of queries` {
  /// What does not prepare is told at once, so that many cost little.
  private func catalog(_ count: Int) throws -> QueryCatalog {
    let definitions = (0..<count).map { QueryDefinition(name: "q\($0)", form: .sql("")) }
    let catalog = QueryCatalog(extent: .definitions(definitions))
    try DatabaseQueue().read { db in
      try catalog.analyze(in: db, after: SchemaChange(from: nil, to: SchemaObjects(in: db)))
    }
    return catalog
  }

  @Test func `keeps the order of its definitions, and finds each by its name`() throws {
    let catalog = try catalog(20)
    let names = (0..<20).map { "q\($0)" }
    #expect(catalog.all.map(\.definition.name) == names)
    #expect(names.map { catalog[$0]?.definition.name } == names)
    #expect(catalog["q20"] == nil)
  }

  @Test func `finds a query in the same time among few and among many`() throws {
    func seconds(among count: Int) throws -> Double {
      let catalog = try catalog(count)
      return processorSeconds {
        for _ in 0..<1000 where catalog["q\(count - 1)"] == nil { Issue.record("it is not there") }
      }
    }
    let (few, many) = (try seconds(among: 250), try seconds(among: 8000))
    // 32 times as many: 32 where each is looked at, 1 where none is.
    #expect(many < 8 * few, "\(few) s and \(many) s")
  }
}
