import Testing

extension ServerFixture {
  /// Holds what a stream has shown against the resources and against a plain SELECT.
  ///
  /// `follower` follows the whole of `query` (its name, with its parameters as a URL query behind
  /// it); `sql` returns the same records in the same order, and `section` is its column that names
  /// a record's section, if any does.
  func expectTruth(
    _ follower: Follower, _ query: String, _ sql: String, section: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let client = client()
    let (path, items) = Self.split(query)
    let fetched = try client.post("\(path)/fetch\(items)").json
    try follower.catchUp(to: fetched["version"].string ?? "")
    let model = follower.model
    let records = try client.allRecords("\(path)/records", items)
    let state = model.version.stateOfVersion
    #expect(records.version.stateOfVersion == state, sourceLocation: sourceLocation)
    #expect(records.records == model.records, sourceLocation: sourceLocation)
    let sections = try client.get("\(path)/sections\(items)").json
    #expect(
      sections["version"].string?.stateOfVersion == state, sourceLocation: sourceLocation)
    #expect(sections["sections"] == model.sectionList, sourceLocation: sourceLocation)
    #expect(
      sections["numberOfRecords"].int == model.records.count, sourceLocation: sourceLocation)
    let plain = try database.select(sql)
    #expect(model.records.map(\.values) == plain, sourceLocation: sourceLocation)
    if let section {
      let named = model.sections.flatMap { run in run.records.map { _ in run.name } }
      #expect(named == plain.map { $0[section] }, sourceLocation: sourceLocation)
    }
  }

  private static func split(_ query: String) -> (path: String, items: String) {
    let end = query.firstIndex(of: "?") ?? query.endIndex
    return ("/v1/queries/\(query[..<end])", String(query[end...]))
  }
}

extension HTTPClient {
  /// All pages of a result that does not change meanwhile.
  func allRecords(
    _ path: String, _ items: String = "", limit: Int = 700
  ) throws -> (version: String, records: [ClientModel.Record]) {
    var records: [ClientModel.Record] = []
    var next: String?
    let first = items.isEmpty ? "?" : items + "&"
    while true {
      let page = try get("\(path)\(first)limit=\(limit)" + (next.map { "&after=\($0)" } ?? "")).json
      records += try page["records"].elements.map(ClientModel.Record.init)
      next = page["next"].string
      if next == nil { return (page["version"].string ?? "", records) }
    }
  }
}

extension ClientModel {
  /// As `…/sections` lists them.
  fileprivate var sectionList: JSONValue {
    var offset = 0
    return .array(
      sections.enumerated().map { index, section in
        defer { offset += section.records.count }
        return .object([
          ("index", .number("\(index)")), ("name", section.name),
          ("indexTitle", section.indexTitle),
          ("numberOfRecords", .number("\(section.records.count)")),
          ("offset", .number("\(offset)")),
        ])
      })
  }
}
