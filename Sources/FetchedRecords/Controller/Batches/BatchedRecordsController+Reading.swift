public import Foundation
public import GRDB
import OrderedResults

extension BatchedRecordsController {
  /// How many records there are. O(1).
  public var numberOfRecords: Int { core.shown?.results.count ?? 0 }

  /// The sections. Without a section name there is one, also when it is empty.
  ///
  /// O(s), s sections.
  public var sections: [BatchedSectionInfo] {
    guard let results = core.shown?.results else { return [] }
    return results.sections.map(BatchedSectionInfo.init)
  }

  /// The record at a place in the order, counted from 0.
  ///
  /// O(log n), n records; where its batch is not at hand, a search in the database for each record of
  /// the batch.
  ///
  /// - Returns: nil where there is no such place, or where the record was deleted since the last
  ///   change was told.
  /// - Throws: `DatabaseError`, and what `init(row:)` throws.
  public func record(at position: Int) throws -> Record? {
    let start = position - position % fetchBatchSize
    guard let state = core.shown, 0..<state.results.count ~= position else { return nil }
    if let row = current(state.results[position]) { return try decode([row], state).first }
    let batch = start..<min(start + fetchBatchSize, state.results.count)
    try load(batch, of: state)
    let id = state.results[position].rowID(at: BatchPlan.rowIDColumn)
    return try rows[id].flatMap { try decode([$0], state).first }
  }

  /// The record at an index path; otherwise as ``record(at:)-(Int)``.
  ///
  /// - Throws: `DatabaseError`, and what `init(row:)` throws.
  public func record(at indexPath: Foundation.IndexPath) throws -> Record? {
    guard let results = core.shown?.results, indexPath.count == 2,
      results.contains(Place(indexPath))
    else { return nil }
    return try record(at: results.offset(of: Place(indexPath)))
  }

  /// A page: the records of a range of places, but for those that were deleted since the last change
  /// was told.
  ///
  /// O(log n + m), m records among n, and a search in the database for each that is not at hand.
  ///
  /// - Throws: `DatabaseError`, and what `init(row:)` throws.
  public func records(in range: Range<Int>) throws -> [Record] {
    guard let state = core.shown else { return [] }
    let range = range.clamped(to: 0..<state.results.count)
    var page: [Record] = []
    for start in stride(from: range.lowerBound, to: range.upperBound, by: fetchBatchSize) {
      let batch = start..<min(start + fetchBatchSize, range.upperBound)
      try load(batch, of: state)
      let found = state.results.records(in: batch).compactMap {
        rows[$0.rowID(at: BatchPlan.rowIDColumn)]
      }
      page += try decode(found, state)
    }
    return page
  }

  /// The page behind a record, which is given by its key; empty where there is no such record.
  ///
  /// - Throws: as ``records(in:)``.
  public func records(after key: any DatabaseValueConvertible..., limit: Int) throws -> [Record] {
    guard let position = position(forKeyValues: key.map(\.databaseValue)) else { return [] }
    return try records(in: position + 1..<position + 1 + max(0, limit))
  }

  /// The page before a record, which is given by its key; empty where there is no such record.
  ///
  /// - Throws: as ``records(in:)``.
  public func records(before key: any DatabaseValueConvertible..., limit: Int) throws -> [Record] {
    guard let position = position(forKeyValues: key.map(\.databaseValue)) else { return [] }
    return try records(in: max(0, position - max(0, limit))..<position)
  }

  /// The place of the record with this primary key; nil: there is none.
  ///
  /// O(n), n records, at some 10 ns each.
  public func position(forKey key: any DatabaseValueConvertible...) -> Int? {
    position(forKeyValues: key.map(\.databaseValue))
  }

  /// The index path of the record with this primary key; nil: there is none.
  ///
  /// The cost is that of ``position(forKey:)``.
  public func indexPath(forKey key: any DatabaseValueConvertible...) -> Foundation.IndexPath? {
    guard let results = core.shown?.results,
      let position = position(forKeyValues: key.map(\.databaseValue))
    else { return nil }
    return IndexPath(results.indexPath(ofOffset: position))
  }

  private func position(forKeyValues key: [DatabaseValue]) -> Int? {
    core.shown?.results.offset(ofKey: key.map(Value.init))
  }

  // MARK: - Batches

  /// What is at hand of a record, if it is of the state that the index tells of.
  private func current(_ entry: OrderedResults.Record) -> RowStore.Row? {
    guard let row = rows[entry.rowID(at: BatchPlan.rowIDColumn)],
      row.digest == entry.value(BatchPlan.digestColumn)
    else { return nil }
    return row
  }

  /// Reads what is not at hand of a batch.
  private func load(_ batch: Range<Int>, of state: FetchedState) throws {
    guard let reader = state.batches else { return }
    let missing = state.results.records(in: batch).filter { current($0) == nil }
      .map { $0.rowID(at: BatchPlan.rowIDColumn) }
    if missing.isEmpty { return }
    let access = core.engine.access
    let found = try access.sync {
      try access.read(isLocked: false) { db in
        try reader.plan.fetch(missing, arguments: reader.arguments, in: db)
      }
    }
    rows.remove(missing.filter { found[$0] == nil })
    rows.insert(found)
  }

  private func decode(_ found: [RowStore.Row], _ state: FetchedState) throws -> [Record] {
    guard let reader = state.batches else { return [] }
    return try reader.plan.shape.rows(found.map(\.record)).map { try Record(row: $0) }
  }
}

/// A section of records that are read in batches.
public struct BatchedSectionInfo: Sendable, Equatable {
  /// The section's name as text; nil: the name is NULL, or there is no section name.
  public let name: String?
  /// The section's name as the database has it.
  public let databaseName: DatabaseValue
  /// What stands for the section in an index.
  public let indexTitle: String
  /// The places of its records in the order of all.
  public let range: Range<Int>

  /// How many records the section has.
  public var numberOfRecords: Int { range.count }

  init(_ section: Section) {
    name = section.name.sectionName
    databaseName = DatabaseValue(section.name)
    indexTitle = section.indexTitle
    range = section.offset..<section.offset + section.numberOfRecords
  }
}
