import OrderedResults

/// The records of a result by their rowids.
///
/// The records are those of the result's own blocks, so that the index adds no bytes of theirs:
/// when blocks are made anew, their records are entered again.
struct RowIndex {
  private var records: [Int64: Record]
  private let column: Int

  /// O(n) for the n records of `results`.
  init(_ results: Results, rowIDColumn column: Int) {
    self.column = column
    records = Dictionary(minimumCapacity: results.count)
    for record in results.records(in: 0..<results.count) { enter(record) }
  }

  /// The record of a row, if the result has it.
  subscript(rowID: Int64) -> Record? { records[rowID] }

  mutating func remove(_ rowID: Int64) { records[rowID] = nil }

  mutating func enter(_ record: Record) { records[record.rowID(at: column)] = record }
}

extension Record {
  /// The rowid in a column that is known to hold one.
  func rowID(at column: Int) -> Int64 {
    guard case .integer(let rowID) = value(column) else {
      preconditionFailure("a rowid is an integer")
    }
    return rowID
  }
}
