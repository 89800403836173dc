import Foundation

/// A `sectionChange` or a `change` of the wire, with its record decoded.
enum WireChange<Record: Sendable>: Sendable {
  case section(RemoteSectionChange)
  /// The row is nil for a deletion.
  case record(RemoteRecordChange, RemoteRow<Record>?)
}

extension WireChange where Record: Decodable {
  /// - Parameters:
  ///   - event: `sectionChange` or `change`.
  ///   - json: its data.
  ///   - decoder: decodes the record.
  /// - Throws: `ChangeSetError` where it is no change; `DecodingError`.
  init(_ event: String, _ json: RawJSON, _ decoder: JSONDecoder) throws {
    let data = json.object
    switch event {
    case "sectionChange": self = .section(try RemoteSectionChange(data))
    default:
      let change = try RemoteRecordChange(data)
      if case .deletion = change {
        self = .record(change, nil)
      } else {
        guard let record = data["record"] else {
          throw ChangeSetError("“\(json.text)” has no record")
        }
        let key = RemoteRecordKey(data["key"])
        self = .record(
          change, RemoteRow(key: key, record: try decoder.decode(Record.self, from: record.data)))
      }
    }
  }
}

extension RemoteSectionChange {
  init(_ data: [String: RawJSON]) throws(ChangeSetError) {
    let name = data["name"].map(RemoteValue.init) ?? .null
    guard let index = data["section"]?.int, index >= 0 else {
      throw ChangeSetError("a change of a section says not of which")
    }
    switch data["type"]?.plain {
    case "insertion":
      self = .insertion(index: index, name: name, indexTitle: data["indexTitle"]?.string ?? "")
    case "deletion": self = .deletion(index: index, name: name)
    case let type: throw ChangeSetError("“\(type ?? "")” is no change of a section")
    }
  }
}

extension RemoteRecordChange {
  init(_ data: [String: RawJSON]) throws(ChangeSetError) {
    func path(_ name: String) throws(ChangeSetError) -> IndexPath {
      let indexes = (data[name]?.elements() ?? []).compactMap(\.int)
      guard indexes.count == 2, indexes.allSatisfy({ $0 >= 0 }) else {
        throw ChangeSetError("“\(data[name]?.text ?? "")” is no index path")
      }
      return IndexPath(indexes: indexes)
    }
    let changes = (data["changes"]?.object ?? [:]).mapValues(RemoteValue.init)
    switch data["type"]?.plain {
    case "insertion": self = .insertion(indexPath: try path("newIndexPath"))
    case "deletion": self = .deletion(indexPath: try path("indexPath"))
    case "move":
      self = .move(
        indexPath: try path("indexPath"), newIndexPath: try path("newIndexPath"), changes: changes)
    case "update":
      self = .update(
        indexPath: try path("indexPath"), newIndexPath: try path("newIndexPath"), changes: changes)
    case let type: throw ChangeSetError("“\(type ?? "")” is no change of a record")
    }
  }
}
