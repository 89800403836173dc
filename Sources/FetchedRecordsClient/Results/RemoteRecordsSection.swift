/// A section of a query's records: a run of those with one section name.
public struct RemoteRecordsSection<Record: Sendable>: Sendable, Identifiable {
  /// The section's name as the server has it.
  public let value: RemoteValue
  /// What stands for the section in an index: by default the first character of its name, in upper
  /// case; empty where there is none.
  public let indexTitle: String
  var rows: [RemoteRow<Record>]

  /// No other section of the same results has this name.
  public var id: RemoteValue { value }

  /// The section's name as text; nil: it is null, or the query has no sections.
  public var name: String? { value == .null ? nil : value.description }

  /// How many records the section has. O(1).
  public var numberOfRecords: Int { rows.count }

  /// What identifies each of its records; nil where the query has no key. O(n), n records.
  public var keys: [RemoteRecordKey?] { rows.map(\.key) }

  /// The section's records.
  public var records: RemoteSectionRecords<Record> { RemoteSectionRecords(rows: rows) }
}

/// The records of a section.
public struct RemoteSectionRecords<Record: Sendable>: RandomAccessCollection, Sendable {
  let rows: [RemoteRow<Record>]

  /// 0.
  public var startIndex: Int { 0 }

  /// How many there are. O(1).
  public var endIndex: Int { rows.count }

  /// The record at an item, which must be there. O(1).
  public subscript(item: Int) -> Record { rows[item].record }
}

/// A record with what identifies it.
struct RemoteRow<Record: Sendable>: Sendable {
  let key: RemoteRecordKey?
  let record: Record
}
