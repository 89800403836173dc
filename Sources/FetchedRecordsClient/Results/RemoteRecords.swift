public import Foundation

/// The records of a query at one moment, in order and in sections: an immutable value.
///
/// A copy costs nothing, and later results share the sections that did not change with it.
public struct RemoteRecords<Record: Sendable>: RandomAccessCollection, Sendable {
  /// The sections. A query without a section column has one, also when it is empty.
  public let sections: [RemoteRecordsSection<Record>]
  var head: Head
  /// Where each section begins, and the end.
  private let offsets: [Int]

  /// What stands around records on the wire.
  struct Head: Sendable {
    /// nil: nothing has come yet.
    var version: String?
    var commit = 0
    var totalNumberOfRecords: Int?
    var alongside: [String: RemoteValue] = [:]
  }

  init(sections: [RemoteRecordsSection<Record>] = [], head: Head = Head()) {
    self.sections = sections
    self.head = head
    var end = 0
    offsets =
      [0]
      + sections.map {
        end += $0.numberOfRecords; return end
      }
  }

  /// Names these records, as the server does; nil: nothing has come yet.
  public var version: String? { head.version }

  /// Which commit of the database they show, counted by the server.
  public var commit: Int { head.commit }

  /// How many there are, those beyond a window included.
  public var totalNumberOfRecords: Int { head.totalNumberOfRecords ?? count }

  /// The values of the query's `alongside` statements, of the same moment.
  public var alongside: [String: RemoteValue] { head.alongside }

  /// 0.
  public var startIndex: Int { 0 }

  /// How many records there are. O(1).
  public var endIndex: Int { offsets[sections.count] }

  /// The record at a place in the order, counted from 0; it must be there. O(log s), s sections.
  public subscript(position: Int) -> Record {
    guard let path = indexPath(ofRecord: position) else {
      preconditionFailure("no record \(position) among \(count)")
    }
    return self[path]
  }

  /// The record at an index path, which must be there. O(1).
  public subscript(indexPath: IndexPath) -> Record {
    guard let row = row(at: indexPath) else { preconditionFailure("no record at \(indexPath)") }
    return row.record
  }

  /// What identifies the record at an index path; nil: there is none, or the query has no key. O(1).
  public func key(at indexPath: IndexPath) -> RemoteRecordKey? { row(at: indexPath)?.key }

  /// The index path of the record at a place in the order; nil: there is none. O(log s), s sections.
  public func indexPath(ofRecord position: Int) -> IndexPath? {
    guard indices.contains(position) else { return nil }
    // The last section that begins at or before it.
    var (low, high) = (0, sections.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if offsets[middle] <= position { low = middle } else { high = middle - 1 }
    }
    return IndexPath(indexes: [low, position - offsets[low]])
  }

  /// The index path of the first record with a key; nil: there is none. O(n), n records.
  public func indexPath(for key: RemoteRecordKey) -> IndexPath? {
    for (section, content) in sections.enumerated() {
      if let item = content.rows.firstIndex(where: { $0.key == key }) {
        return IndexPath(indexes: [section, item])
      }
    }
    return nil
  }

  /// The titles of an index, one for each section. O(s), s sections.
  public var sectionIndexTitles: [String] { sections.map(\.indexTitle) }

  func row(at path: IndexPath) -> RemoteRow<Record>? {
    guard path.count == 2, sections.indices.contains(path[0]),
      sections[path[0]].rows.indices.contains(path[1])
    else { return nil }
    return sections[path[0]].rows[path[1]]
  }
}
