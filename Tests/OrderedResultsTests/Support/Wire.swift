import Testing

@testable import OrderedResults

// Change sets as the events of `protocol.md` §4, plainly and slowly.

extension ChangeSet {
  func events(_ layout: RecordLayout) -> [JSONValue] {
    sectionChanges.map { .event("sectionChange", $0.data) }
      + recordChanges.map { .event("change", $0.data(layout)) }
  }

  init(events: [JSONValue], _ layout: RecordLayout) throws {
    self.init(
      sectionChanges: try events.filter { $0["event"].string == "sectionChange" }
        .map { try SectionChange($0["data"]) },
      recordChanges: try events.filter { $0["event"].string == "change" }
        .map { try RecordChange($0["data"], layout) })
  }
}

extension JSONValue {
  fileprivate static func event(_ name: String, _ data: [String: JSONValue]) -> JSONValue {
    .object(["event": .string(name), "data": .object(data)])
  }

  fileprivate init(_ path: IndexPath) {
    self = .array([.integer(Int64(path.section)), .integer(Int64(path.item))])
  }

  fileprivate func path() throws -> IndexPath {
    let numbers = array.compactMap(\.integer)
    try #require(numbers.count == 2)
    return IndexPath(section: numbers[0], item: numbers[1])
  }
}

extension SectionChange {
  fileprivate var data: [String: JSONValue] {
    let (type, section, name, indexTitle) =
      switch self {
      case .insertion(let section, let name, let title): ("insertion", section, name, title)
      case .deletion(let section, let name, let title): ("deletion", section, name, title)
      }
    return [
      "type": .string(type), "section": .integer(Int64(section)), "name": JSONValue(name),
      "indexTitle": .string(indexTitle),
    ]
  }

  fileprivate init(_ data: JSONValue) throws {
    let section = try #require(data["section"].integer)
    let name = try #require(data["name"].value)
    let indexTitle = try #require(data["indexTitle"].string)
    switch data["type"].string {
    case "insertion": self = .insertion(section: section, name: name, indexTitle: indexTitle)
    case "deletion": self = .deletion(section: section, name: name, indexTitle: indexTitle)
    default: throw BrokenInvariant(description: "\(data)")
    }
  }
}

extension RecordChange {
  fileprivate func data(_ layout: RecordLayout) -> [String: JSONValue] {
    var data: [String: JSONValue] = [:]
    data["indexPath"] = oldPath.map { JSONValue($0) }
    data["newIndexPath"] = newPath.map { JSONValue($0) }
    let record = newRecord ?? oldRecord ?? Record([])
    data["key"] = layout.key(of: record).map { .array($0.map { JSONValue($0) }) } ?? .null
    data["record"] = layout.json(record)
    switch self {
    case .insertion: data["type"] = .string("insertion")
    case .deletion: data["type"] = .string("deletion")
    case .move(_, _, let old, let new), .update(_, _, let old, let new):
      if case .move = self {
        data["type"] = .string("move")
      } else {
        data["type"] = .string("update")
      }
      data["changes"] = .object(
        Dictionary(
          uniqueKeysWithValues: layout.changedColumns(from: old, to: new).map {
            (layout.columns[$0], JSONValue(old.value($0)))
          }))
    }
    return data
  }

  fileprivate init(_ data: JSONValue, _ layout: RecordLayout) throws {
    let record = try layout.record(data["record"])
    var members: [String: JSONValue] = [:]
    if case .object(let all) = data["record"] { members = all }
    if case .object(let old) = data["changes"] { members.merge(old) { $1 } }
    let old = try layout.record(.object(members))
    switch data["type"].string {
    case "insertion": self = .insertion(at: try data["newIndexPath"].path(), record: record)
    case "deletion": self = .deletion(at: try data["indexPath"].path(), record: record)
    case "move":
      self = .move(
        from: try data["indexPath"].path(), to: try data["newIndexPath"].path(), old: old,
        new: record)
    case "update":
      self = .update(
        from: try data["indexPath"].path(), to: try data["newIndexPath"].path(), old: old,
        new: record)
    default: throw BrokenInvariant(description: "\(data)")
    }
  }
}

extension RecordLayout {
  func json(_ record: Record) -> JSONValue {
    .object(
      Dictionary(
        uniqueKeysWithValues: columns.indices.map { (columns[$0], JSONValue(record.value($0))) }))
  }

  /// A record of the visible columns; hidden ones are what `hidden` says, else NULL.
  func record(_ json: JSONValue, hidden: [Value] = []) throws -> Record {
    let visible = try columns.map { try #require(json[$0].value, "no \($0) in \(json)") }
    let rest = columnCount - columns.count
    return Record(visible + (hidden + Array(repeating: .null, count: rest)).prefix(rest))
  }
}
