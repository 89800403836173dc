import Foundation

extension RemoteRecords where Record: Decodable {
  private struct Keyed: Decodable {
    let record: Record
  }

  /// The records of a `snapshot` (`protocol.md` §4). O(n), n records, and their decoding.
  ///
  /// - Throws: `DecodingError`; `ChangeSetError` where it is no snapshot.
  init(snapshot: RawJSON, _ decoder: JSONDecoder) throws {
    let members = snapshot.object
    guard let list = members["records"], members["version"]?.string != nil else {
      throw ChangeSetError("a snapshot without records")
    }
    let elements = try decoder.decode([Keyed].self, from: list.data)
    let keys = list.elements().map { RemoteRecordKey($0["key"]) }
    guard keys.count == elements.count else { throw ChangeSetError("records that are none") }
    let rows = zip(keys, elements).map { RemoteRow(key: $0, record: $1.record) }
    var offset = 0
    let sections = try (members["sections"]?.elements() ?? []).map { json in
      let section = json.object
      let end = offset + (section["numberOfRecords"]?.int ?? -1)
      guard (offset...rows.count).contains(end) else {
        throw ChangeSetError("section \(json.text) is not where it is")
      }
      defer { offset = end }
      return RemoteRecordsSection(
        value: section["name"].map(RemoteValue.init) ?? .null,
        indexTitle: section["indexTitle"]?.string ?? "", rows: Array(rows[offset..<end]))
    }
    guard offset == rows.count else { throw ChangeSetError("records outside of sections") }
    self.init(sections: sections, head: Head(members))
  }

  /// What a change set of the wire makes of these records.
  ///
  /// - Throws: `DecodingError`; `ChangeSetError` where it does not fit.
  func applying(
    _ changes: ChangeSetAssembly.RawChangeSet, _ decoder: JSONDecoder
  ) throws -> RemoteRecordsChangeSet<Record> {
    let wire = try changes.changes.map { try WireChange<Record>($0.event, $0.data, decoder) }
    let end = changes.end.object
    let new = try applying(wire, head: Head(end))
    guard end["numberOfRecords"]?.int == new.count else {
      throw ChangeSetError("there are \(new.count) records")
    }
    return RemoteRecordsChangeSet(
      sectionChanges: wire.compactMap { if case .section(let change) = $0 { change } else { nil } },
      recordChanges: wire.compactMap {
        if case .record(let change, _) = $0 { change } else { nil }
      },
      old: self, new: new, isReset: false)
  }
}

extension RemoteRecords.Head {
  init(_ members: [String: RawJSON]) {
    version = members["version"]?.string
    commit = members["commit"]?.int ?? 0
    totalNumberOfRecords = members["totalNumberOfRecords"]?.int
    alongside = (members["alongside"]?.object ?? [:]).mapValues(RemoteValue.init)
  }
}
