import Foundation
import TestSupport
import Testing

@testable import OrderedResults

/// The change sets in `Tests/Vectors`, which every client can run too.
///
/// A vector has `old`, `events` as `protocol.md` §4 has them, and `new`: applying the events to the
/// old result gives the new one. Where `diff` is true the events are those that our diff makes.
/// `layout` names `columns` and `key`, and may name the columns of the section's name and of its
/// index title; one that is not among `columns` is hidden. Where `layout` says nothing of sections,
/// and there is another than the one named null, both are hidden.
@Suite struct VectorTests {
  struct Vector: CustomTestStringConvertible {
    let file: String
    let json: JSONValue
    var testDescription: String { json["name"].string ?? file }
  }

  static let vectors: [Vector] = {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Vectors")
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
    return files.filter { $0.hasSuffix(".json") }.sorted().compactMap { file in
      guard let data = try? Data(contentsOf: folder.appending(path: file)),
        let json = try? JSONDecoder().decode(JSONValue.self, from: data)
      else {
        Issue.record("\(file) cannot be read")
        return nil
      }
      return Vector(file: file, json: json)
    }
  }()

  @Test func `there are vectors`() {
    #expect(Self.vectors.count >= 20)
    #expect(Set(Self.vectors.map(\.testDescription)).count == Self.vectors.count)
  }

  @Test(arguments: vectors) func `the vector holds`(vector: Vector) throws {
    let layout = try layout(vector.json)
    let old = try results(vector.json["old"], layout)
    let new = try results(vector.json["new"], layout)
    let changes = try ChangeSet(events: vector.json["events"].array, layout)
    #expect(try PlainResults(old).applying(changes) == PlainResults(new))

    guard vector.json["diff"] == .bool(true) else { return }
    let found = new.changes(from: old)
    try check(found, from: old, to: new)
    #expect(found.events(layout) == vector.json["events"].array, "\(found.text(layout))")
  }

  private func layout(_ vector: JSONValue) throws -> RecordLayout {
    let json = vector["layout"]
    let columns = json["columns"].array.compactMap(\.string)
    var count = columns.count
    func position(_ name: JSONValue) -> Int? {
      guard let name = name.string else { return nil }
      if let position = columns.firstIndex(of: name) { return position }
      count += 1
      return count - 1
    }
    var section = position(json["section"])
    var indexTitle = position(json["sectionIndexTitle"])
    let hasOnlySection = [vector["old"], vector["new"]].allSatisfy { results in
      results["sections"].array.map { $0["name"] } == [.null]
    }
    if section == nil, !hasOnlySection {
      section = position(.string("(section)"))
      indexTitle = position(.string("(indexTitle)"))
    }
    let key = json["key"].array.compactMap(\.string).map { name in columns.firstIndex(of: name) }
    return RecordLayout(
      columns: columns, columnCount: count,
      key: json["key"] == .null ? nil : try key.map { try #require($0) }, section: section,
      sectionIndexTitle: indexTitle)
  }

  private func results(_ json: JSONValue, _ layout: RecordLayout) throws -> Results {
    var builder = ResultsBuilder(layout: layout)
    for section in json["sections"].array {
      let name = try #require(section["name"].value)
      let indexTitle = try #require(section["indexTitle"].value)
      for record in section["records"].array {
        var hidden: [Value] = []
        if let section = layout.section, section >= layout.columns.count { hidden.append(name) }
        if layout.sectionIndexTitle != nil { hidden.append(indexTitle) }
        builder.append(try layout.record(record, hidden: hidden))
      }
    }
    let results = try builder.finishWithoutChanges()
    try results.checkInvariants()
    #expect(
      results.sections.map { [JSONValue($0.name), .string($0.indexTitle)] }
        == json["sections"].array.map { [$0["name"], $0["indexTitle"]] })
    return results
  }
}
